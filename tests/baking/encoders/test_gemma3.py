"""Gemma 3's text model against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder_shapes
from models.formulas.rotary_numpy import (
    HIDDEN,
    LAYERS,
    Allowed,
    Floats,
    Weights,
    assert_matches,
    gelu_tanh,
    heads_of,
    linear,
    mixed,
    near,
    rms_norm,
    turned,
    weights_of,
)
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE, SCALAR = 10, 5
GEMMA3: dict[str, Any] = DECODER | {
    "model_type": "gemma3_text",
    "head_dim": SIZE,
    "query_pre_attn_scalar": SCALAR,
    "sliding_window": 5,
    "rope_parameters": {
        "full_attention": {"rope_type": "default", "rope_theta": 300.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 20.0},
    },
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
#: The same as transformers 4 wrote it.
OLDER: dict[str, Any] = GEMMA3 | {
    "rope_parameters": None,
    "layer_types": None,
    "rope_theta": 300.0,
    "rope_local_base_freq": 20.0,
    "sliding_window_pattern": 2,
}
NORMS = ("pre_feedforward", "post_feedforward")


def weights(biased: str = "") -> dict[str, Floats]:
    shapes = decoder_shapes(SIZE, biased=biased, norms=True)
    shapes |= {
        f"layers.{number}.{part}_layernorm.weight": (HIDDEN,)
        for number in range(LAYERS)
        for part in NORMS
    }
    return weights_of(shapes, centre=0.0)


def forward(both_ways: bool) -> Callable[[Weights, NDArray[np.int64]], Floats]:
    def run(w: Weights, ids: NDArray[np.int64]) -> Floats:
        def norm(x: Floats, name: str) -> Floats:
            return rms_norm(x, 1 + w[f"{name}.weight"])

        x = w["embed_tokens.weight"][ids] * math.sqrt(HIDDEN)
        for number in range(LAYERS):
            layer, full = f"layers.{number}", number == 1
            normed = norm(x, f"{layer}.input_layernorm")
            query, key, value = (
                heads_of(linear(normed, w, f"{layer}.self_attn.{p}_proj"), SIZE) for p in "qkv"
            )
            theta = 300.0 if full else 20.0
            attended = mixed(
                turned(norm(query, f"{layer}.self_attn.q_norm"), theta),
                turned(norm(key, f"{layer}.self_attn.k_norm"), theta),
                value,
                visible(len(ids), full, both_ways),
                scale=SCALAR**-0.5,
            )
            attended = linear(attended, w, f"{layer}.self_attn.o_proj")
            x = x + norm(attended, f"{layer}.post_attention_layernorm")
            normed = norm(x, f"{layer}.pre_feedforward_layernorm")
            gate = gelu_tanh(linear(normed, w, f"{layer}.mlp.gate_proj"))
            wide = gate * linear(normed, w, f"{layer}.mlp.up_proj")
            down = linear(wide, w, f"{layer}.mlp.down_proj")
            x = x + norm(down, f"{layer}.post_feedforward_layernorm")
        return norm(x, "norm")

    return run


def visible(length: int, full: bool, both_ways: bool) -> Allowed:
    """Both ways, a window of 5 leaves distances below 5 / 2 + 1; causal, it leaves 5 tokens."""
    if both_ways:
        return near(length) if full else near(length, before=2, after=2)
    return near(length, after=0) if full else near(length, before=4, after=0)


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("config", [GEMMA3, OLDER], ids=["transformers 5", "transformers 4"])
def test_matches_numpy(config: dict[str, Any], both_ways: bool, tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    config = config | {"use_bidirectional_attention": both_ways}
    assert_matches(config, weights(), forward(both_ways), tmp_path)


def test_attention_biases(tmp_path: Path) -> None:
    """attention_bias adds a bias to each of the four projections."""
    config = GEMMA3 | {"attention_bias": True}
    assert_matches(config, weights("qkvo"), forward(both_ways=False), tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("attn_logit_softcapping", 50.0, "attn_logit_softcapping: "),
        ("rope_scaling", {"rope_type": "linear", "factor": 8.0}, "rope_scaling: "),
        ("query_pre_attn_scalar", 0, "query_pre_attn_scalar: "),
        ("sliding_window", None, "sliding_window: "),
        ("is_causal", False, "is_causal: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", GEMMA3 | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
