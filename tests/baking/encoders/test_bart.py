"""BART against an independent forward pass in NumPy."""

from __future__ import annotations

import math
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
    gelu,
    heads_of,
    layer_norm,
    linear,
    mixed,
    near,
    weights_of,
)
from models.parts.tiny_encoders import token_embeddings
from polybake.baking.sources import open_source
from polybake.errors import InputError

HIDDEN, ROWS, START = 24, 12, 7
#: Layers, heads, and elements of the feed-forward block.
HALVES = {"encoder": (3, 4, 28), "decoder": (2, 2, 36)}
BART: dict[str, Any] = {
    "model_type": "bart",
    "vocab_size": len(VOCABULARY),
    "d_model": HIDDEN,
    "max_position_embeddings": ROWS,
    "decoder_start_token_id": START,
    "is_encoder_decoder": True,
    **{f"{half}_layers": layers for half, (layers, _, _) in HALVES.items()},
    **{f"{half}_attention_heads": heads for half, (_, heads, _) in HALVES.items()},
    **{f"{half}_ffn_dim": wide for half, (_, _, wide) in HALVES.items()},
}


def weights() -> dict[str, Floats]:
    shapes: dict[str, tuple[int, ...]] = {"shared.weight": (len(VOCABULARY), HIDDEN)}
    norms = []
    for half, (layers, _, wide) in HALVES.items():
        shapes[f"{half}.embed_positions.weight"] = (ROWS + 2, HIDDEN)
        norms.append(f"{half}.layernorm_embedding")
        for number in range(layers):
            layer = f"{half}.layers.{number}"
            blocks = ["self_attn", *(["encoder_attn"] if half == "decoder" else [])]
            for block in blocks:
                for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    shapes[f"{layer}.{block}.{part}.weight"] = (HIDDEN, HIDDEN)
                    shapes[f"{layer}.{block}.{part}.bias"] = (HIDDEN,)
                norms.append(f"{layer}.{block}_layer_norm")
            norms.append(f"{layer}.final_layer_norm")
            for part, sizes in (("fc1", (wide, HIDDEN)), ("fc2", (HIDDEN, wide))):
                shapes |= {f"{layer}.{part}.weight": sizes, f"{layer}.{part}.bias": sizes[:1]}
    for name in norms:
        shapes |= {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}
    return weights_of(shapes)


def attended(x: Floats, seen: Floats, w: Weights, name: str, heads: int, allowed: Any) -> Floats:
    size = HIDDEN // heads
    query = heads_of(linear(x, w, f"{name}.q_proj"), size)
    key, value = (heads_of(linear(seen, w, f"{name}.{part}_proj"), size) for part in "kv")
    return linear(mixed(query, key, value, allowed), w, f"{name}.out_proj")


def half(name: str, w: Weights, ids: Any, scale: float, seen: Floats | None = None) -> Floats:
    """One half over a text; the decoder sees what the encoder gave."""
    layers, heads, _ = HALVES[name]
    places = w[f"{name}.embed_positions.weight"][2 : 2 + len(ids)]
    x = layer_norm(w["shared.weight"][ids] * scale + places, w, f"{name}.layernorm_embedding", 1e-5)
    own = near(len(ids), after=math.inf if seen is None else 0)
    for number in range(layers):
        layer = f"{name}.layers.{number}"
        blocks = [("self_attn", None, own), ("encoder_attn", seen, near(len(ids)))]
        for block, others, allowed in blocks if seen is not None else blocks[:1]:
            given = x if others is None else others
            mixed_in = attended(x, given, w, f"{layer}.{block}", heads, allowed)
            x = layer_norm(x + mixed_in, w, f"{layer}.{block}_layer_norm", 1e-5)
        wide = gelu(linear(x, w, f"{layer}.fc1"))
        x = layer_norm(x + linear(wide, w, f"{layer}.fc2"), w, f"{layer}.final_layer_norm", 1e-5)
    return x


def forward(w: Weights, ids: NDArray[np.int64], scale: float) -> Floats:
    seen = half("encoder", w, ids, scale)
    return half("decoder", w, np.array([START, *ids[:-1]]), scale, seen)


@pytest.mark.parametrize("scaled", [False, True])
def test_matches_numpy(scaled: bool, tmp_path: Path) -> None:
    """The decoder reads the text one place to the right, and sees all of it through the encoder."""
    made = weights()
    named = {f"model.{name}": array for name, array in made.items()}
    # As the first checkpoints hold the shared table for each half, and a language model's head.
    again = {"model.encoder.embed_tokens.weight": made["shared.weight"]}
    head = {"final_logits_bias": np.zeros((1, len(VOCABULARY)), np.float32)}
    config = BART | {"scale_embedding": scaled}
    folder = write_bert(tmp_path / "model", config, named | again | head)
    found = token_embeddings(folder, tmp_path, input_ids=IDS[:2], attention_mask=MASK[:2])
    exact = {name: array.astype(np.float64) for name, array in made.items()}
    for row, ids, mask in zip(found, IDS, MASK, strict=False):
        expected = forward(exact, ids[mask == 1], math.sqrt(HIDDEN) if scaled else 1.0)
        np.testing.assert_allclose(row[mask == 1], expected, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("encoder_attention_heads", 5, "d_model 24 is no multiple of 5 heads"),
        ("decoder_attention_heads", 5, "d_model 24 is no multiple of 5 heads"),
        ("decoder_start_token_id", 99, "decoder_start_token_id 99 is no token of"),
        ("activation_function", "mish", "activation_function: .*'mish'"),
        ("normalize_before", True, "normalize_before: "),
        ("add_final_layer_norm", True, "add_final_layer_norm: "),
        ("static_position_embeddings", True, "static_position_embeddings: "),
        ("decoder_layers", 10**12, "decoder_layers: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", BART | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
