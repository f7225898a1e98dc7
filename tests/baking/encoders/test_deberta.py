"""DeBERTa-v2's graph against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from models.formulas.deberta_numpy import linear, norm
from models.parts.tiny_encoders import Floats, random_weights, renamed, token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

IDS = np.array([[2, 6, 9, 17, 30, 8, 5, 3], [2, 30, 3, 0, 0, 0, 0, 0]])
MASK = np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0, 0]])
HEADS, SIZE, HIDDEN, SPAN = 3, 4, 12, 4

DEBERTA: dict[str, Any] = CONFIG | {
    "model_type": "deberta-v2",
    "type_vocab_size": 0,
    "hidden_act": "relu",
    "layer_norm_eps": 1e-7,
    "relative_attention": True,
    "position_biased_input": False,
    "position_buckets": SPAN,
    "pos_att_type": "p2c|c2p",
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
}
#: The row of each distance, from 7 before the query to 7 after; the nearest have their own.
ROWS = [7, 7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1]


def weights_of(shared: bool) -> dict[str, Floats]:
    weights = {
        name: array
        for name, array in bert_weights().items()
        if "position_emb" not in name and "token_type" not in name
    }
    parts = (("self.query", "self.query_proj"), ("self.key", "self.key_proj"))
    weights = renamed(weights, *parts, ("self.value", "self.value_proj"))
    shapes: dict[str, tuple[int, ...]] = {"encoder.rel_embeddings.weight": (2 * SPAN, HIDDEN)}
    if shared:
        shapes |= {f"encoder.LayerNorm.{part}": (HIDDEN,) for part in ("weight", "bias")}
    else:
        for number, part in np.ndindex(2, 2):
            name = f"encoder.layer.{number}.attention.self.pos_{('key', 'query')[part]}_proj"
            shapes |= {f"{name}.weight": (HIDDEN, HIDDEN), f"{name}.bias": (HIDDEN,)}
    return weights | random_weights(shapes, seed=2)


def forward(w: dict[str, Floats], ids: NDArray[np.int64], shared: bool, kinds: str) -> Floats:
    """One text, not padded; each pair's score is a sum over its own few terms."""
    x = norm(w["embeddings.word_embeddings.weight"][ids].astype(np.float64), w, "embeddings")
    relative = w["encoder.rel_embeddings.weight"].astype(np.float64)
    if shared:
        relative = norm(relative, w, "encoder")
    for number in range(2):
        layer = f"encoder.layer.{number}"
        own = f"{layer}.attention.self"
        query, key, value = (linear(x, w, f"{own}.{p}_proj") for p in ("query", "key", "value"))
        place = "" if shared else "pos_"
        heads = []
        for head in range(HEADS):
            part = slice(head * SIZE, (head + 1) * SIZE)
            scores = np.zeros((len(ids), len(ids)))
            for i, j in np.ndindex(scores.shape):
                row = relative[ROWS[j - i + 7]]
                scores[i, j] = query[i, part] @ key[j, part]
                if "c2p" in kinds:
                    scores[i, j] += query[i, part] @ linear(row, w, f"{own}.{place}key_proj")[part]
                if "p2c" in kinds:
                    scores[i, j] += key[j, part] @ linear(row, w, f"{own}.{place}query_proj")[part]
            terms = 1 + len(kinds.split("|"))
            weights = np.exp(scores / math.sqrt(SIZE * terms))
            heads.append(weights / weights.sum(axis=1, keepdims=True) @ value[:, part])
        mixed = linear(np.concatenate(heads, axis=1), w, f"{layer}.attention.output.dense")
        x = norm(x + mixed, w, f"{layer}.attention.output")
        wide = np.maximum(linear(x, w, f"{layer}.intermediate.dense"), 0)
        x = norm(x + linear(wide, w, f"{layer}.output.dense"), w, f"{layer}.output")
    return x


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("kinds", ["p2c|c2p", "c2p", "p2c"])
def test_matches_numpy(shared: bool, kinds: str, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, with shared keys and its own."""
    weights = weights_of(shared)
    if not shared:
        unused = [kind for kind in ("c2p", "p2c") if kind not in kinds]
        parts = {"c2p": "pos_key_proj", "p2c": "pos_query_proj"}
        weights = {n: a for n, a in weights.items() if not any(parts[k] in n for k in unused)}
    settings = {"share_att_key": shared, "norm_rel_ebd": "layer_norm" if shared else "none"}
    config = DEBERTA | settings | {"pos_att_type": kinds}
    folder = write_bert(tmp_path / "model", config, weights)
    found = token_embeddings(folder, tmp_path, input_ids=IDS, attention_mask=MASK)
    for row, (ids, mask) in enumerate(zip(IDS, MASK, strict=True)):
        expected = forward(weights, ids[: mask.sum()], shared, kinds)
        np.testing.assert_allclose(found[row, : mask.sum()], expected, atol=2e-6)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("relative_attention", False),
        ("position_biased_input", True),
        ("type_vocab_size", 2),
        ("conv_kernel_size", 3),
        ("embedding_size", 8),
        ("attention_head_size", 5),
        ("pos_att_type", "c2p|p2p"),
        ("norm_rel_ebd", "rms_norm"),
        ("hidden_act", "mish"),
        ("num_attention_heads", 5),
        ("max_position_embeddings", 10**12),
    ],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", DEBERTA | {key: value}, weights_of(shared=True))
    with pytest.raises(InputError, match=key):
        open_source(folder)
