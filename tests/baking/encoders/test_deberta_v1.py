"""DeBERTa's first version against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.formulas.deberta_numpy import linear, norm
from models.parts.tiny_encoders import Floats, random_weights, token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

IDS = np.array([[2, 6, 9, 17, 30, 8, 5, 3], [2, 30, 3, 0, 0, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0, 0]])
HEADS, SIZE, HIDDEN, SPAN = 3, 4, 12, 5

DEBERTA: dict[str, Any] = CONFIG | {
    "model_type": "deberta",
    "type_vocab_size": 0,
    "hidden_act": "relu",
    "layer_norm_eps": 1e-7,
    "relative_attention": True,
    "position_biased_input": False,
    "max_relative_positions": SPAN,
    "pos_att_type": "c2p|p2c",
}


def weights_of(kinds: str = "c2p|p2c") -> dict[str, Floats]:
    left_out = ("position_emb", "token_type", "self.query", "self.key", "self.value")
    weights = {
        name: array
        for name, array in bert_weights().items()
        if not any(part in name for part in left_out)
    }
    shapes: dict[str, tuple[int, ...]] = {"encoder.rel_embeddings.weight": (2 * SPAN, HIDDEN)}
    for number in range(2):
        own = f"encoder.layer.{number}.attention.self"
        shapes[f"{own}.in_proj.weight"] = (3 * HIDDEN, HIDDEN)
        shapes |= {f"{own}.{letter}_bias": (HIDDEN,) for letter in "qv"}
        if "c2p" in kinds:
            shapes[f"{own}.pos_proj.weight"] = (HIDDEN, HIDDEN)
        if "p2c" in kinds:
            shapes[f"{own}.pos_q_proj.weight"] = (HIDDEN, HIDDEN)
            shapes[f"{own}.pos_q_proj.bias"] = (HIDDEN,)
    return weights | random_weights(shapes, seed=2)


def forward(w: dict[str, Floats], ids: NDArray[np.int64], kinds: str) -> Floats:
    """One text, not padded; each pair's score is a sum over its own few terms."""
    x = norm(w["embeddings.word_embeddings.weight"][ids].astype(np.float64), w, "embeddings")
    relative = w["encoder.rel_embeddings.weight"].astype(np.float64)
    for number in range(2):
        layer = f"encoder.layer.{number}"
        own = f"{layer}.attention.self"
        heads = []
        for head in range(HEADS):
            part = slice(head * SIZE, (head + 1) * SIZE)
            rows = w[f"{own}.in_proj.weight"].reshape(HEADS, 3, SIZE, HIDDEN)[head]
            query, key, value = (x @ matrix.T for matrix in rows)
            query, value = query + w[f"{own}.q_bias"][part], value + w[f"{own}.v_bias"][part]
            scores = np.zeros((len(ids), len(ids)))
            for i, j in np.ndindex(scores.shape):
                row = relative[min(max(i - j + SPAN, 0), 2 * SPAN - 1)]
                scores[i, j] = query[i] @ key[j]
                if "c2p" in kinds:
                    scores[i, j] += query[i] @ (w[f"{own}.pos_proj.weight"] @ row)[part]
                if "p2c" in kinds:
                    scores[i, j] += key[j] @ linear(row, w, f"{own}.pos_q_proj")[part]
            shares = np.exp(scores / math.sqrt(SIZE * (1 + len(kinds.split("|")))))
            heads.append(shares / shares.sum(axis=1, keepdims=True) @ value)
        mixed = linear(np.concatenate(heads, axis=1), w, f"{layer}.attention.output.dense")
        x = norm(x + mixed, w, f"{layer}.attention.output")
        wide = np.maximum(linear(x, w, f"{layer}.intermediate.dense"), 0)
        x = norm(x + linear(wide, w, f"{layer}.output.dense"), w, f"{layer}.output")
    return x


@pytest.mark.parametrize("kinds", ["c2p|p2c", "c2p", "p2c"])
def test_matches_numpy(kinds: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, beyond the furthest distance, too."""
    weights = weights_of(kinds)
    folder = write_bert(tmp_path / "model", DEBERTA | {"pos_att_type": kinds}, weights)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        expected = forward(weights, ids[: mask.sum()], kinds)
        np.testing.assert_allclose(found[row, : mask.sum()], expected, atol=2e-6)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("relative_attention", False),
        ("position_biased_input", True),
        ("type_vocab_size", 2),
        ("talking_head", True),
        ("position_buckets", 8),
        ("share_att_key", True),
        ("norm_rel_ebd", "layer_norm"),
    ],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", DEBERTA | {key: value}, weights_of())
    with pytest.raises(InputError, match=key):
        open_source(folder)


def test_another_size_is_named_as_it_is_stored(tmp_path: Path) -> None:
    """A fused layer that does not fit is unexpected under its own name."""
    weights = weights_of()
    name = "encoder.layer.0.attention.self.in_proj.weight"
    weights[name] = weights[name][:-1]
    folder = write_bert(tmp_path / "model", DEBERTA, weights)
    with pytest.raises(InputError, match=f"unexpected {name}"):
        open_source(folder).encoder.place()
