"""GPT-2 against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import VOCABULARY, write_bert
from models.formulas.rotary_numpy import (
    IDS,
    MASK,
    Floats,
    Weights,
    gelu_tanh,
    heads_of,
    layer_norm,
    mixed,
    near,
    weights_of,
)
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

HIDDEN, WIDE, LAYERS, HEADS, ROWS = 24, 28, 3, 4, 12
GPT2: dict[str, Any] = {
    "model_type": "gpt2",
    "vocab_size": len(VOCABULARY),
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": ROWS,
    "n_ctx": ROWS,
    "n_inner": WIDE,
}


def weights(wide: int = WIDE) -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (len(VOCABULARY), HIDDEN),
        "wpe.weight": (ROWS, HIDDEN),
    }
    norms = ["ln_f"]
    for number in range(LAYERS):
        sizes = {
            "attn.c_attn": (HIDDEN, 3 * HIDDEN),
            "attn.c_proj": (HIDDEN, HIDDEN),
            "mlp.c_fc": (HIDDEN, wide),
            "mlp.c_proj": (wide, HIDDEN),
        }
        for name, size in sizes.items():
            shapes |= {f"h.{number}.{name}.weight": size, f"h.{number}.{name}.bias": size[1:]}
        norms += [f"h.{number}.ln_1", f"h.{number}.ln_2"]
    for name in norms:
        shapes |= {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}
    return weights_of(shapes)


def product(x: Floats, w: Weights, name: str) -> Floats:
    """The weight lies as ``[in, out]``."""
    result: Floats = x @ w[f"{name}.weight"] + w[f"{name}.bias"]
    return result


def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
    x = w["wte.weight"][ids] + w["wpe.weight"][: len(ids)]
    for number in range(LAYERS):
        layer = f"h.{number}"
        normed = layer_norm(x, w, f"{layer}.ln_1", 1e-5)
        parts = np.split(product(normed, w, f"{layer}.attn.c_attn"), 3, axis=-1)
        query, key, value = (heads_of(part, HIDDEN // HEADS) for part in parts)
        attended = mixed(query, key, value, near(len(ids), after=0))
        x = x + product(attended, w, f"{layer}.attn.c_proj")
        wide = product(layer_norm(x, w, f"{layer}.ln_2", 1e-5), w, f"{layer}.mlp.c_fc")
        x = x + product(gelu_tanh(wide), w, f"{layer}.mlp.c_proj")
    return layer_norm(x, w, "ln_f", 1e-5)


@pytest.mark.parametrize("inner", [WIDE, None])
def test_matches_numpy(inner: int | None, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's; four times as wide is the default."""
    made = weights(inner or 4 * HIDDEN)
    # As the body of a language model, with the masks that old checkpoints hold.
    named = {f"transformer.{name}": array for name, array in made.items()}
    masks = {"transformer.h.0.attn.bias": np.ones((1, 1, ROWS, ROWS), np.uint8)}
    masks["transformer.h.2.attn.masked_bias"] = np.array(-1e4, np.float32)
    folder = write_bert(tmp_path / "model", GPT2 | {"n_inner": inner}, named | masks)
    found = token_embeddings(folder, tmp_path, input_ids=IDS[:2], attention_mask=MASK[:2])
    exact = {name: array.astype(np.float64) for name, array in made.items()}
    for row, ids, mask in zip(found, IDS, MASK, strict=False):
        expected = forward(exact, ids[mask == 1])
        np.testing.assert_allclose(row[mask == 1], expected, atol=2e-6 * np.abs(expected).max())


def test_a_text_is_cut_where_the_table_ends(tmp_path: Path) -> None:
    """The tokenizer's own limit is larger."""
    source = open_source(write_bert(tmp_path / "model", GPT2, weights()))
    assert source.max_length == ROWS


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("n_head", 5, "hidden_size 24 is no multiple of num_attention_heads 5"),
        ("activation_function", "mish", "activation_function: .*'mish'"),
        ("scale_attn_weights", False, "scale_attn_weights: "),
        ("scale_attn_by_inverse_layer_idx", True, "scale_attn_by_inverse_layer_idx: "),
        ("is_causal", False, "is_causal: "),
        ("add_cross_attention", True, "add_cross_attention: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", GPT2 | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
