"""Gemma against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder, decoder_shapes
from models.formulas.rotary_numpy import HIDDEN, Floats, assert_matches, gelu_tanh, near, weights_of
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE = 10
GEMMA: dict[str, Any] = DECODER | {"model_type": "gemma", "head_dim": SIZE}
FORWARD = partial(decoder, SIZE, activation=gelu_tanh, scale=math.sqrt(HIDDEN), one=1.0)


def weights(biased: str = "") -> dict[str, Floats]:
    return weights_of(decoder_shapes(SIZE, biased), centre=0.0)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"hidden_act": "gelu", "hidden_activation": None},
        {"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"},
    ],
)
def test_matches_numpy(changes: dict[str, Any], tmp_path: Path) -> None:
    """Whichever name its function has, it is GELU by tanh."""
    forward = FORWARD([partial(near, after=0)] * 3)
    assert_matches(GEMMA | changes, weights(), forward, tmp_path)


def test_attends_to_both_sides_with_biases(tmp_path: Path) -> None:
    """Where the configuration says so; each of the four projections has a bias."""
    config = GEMMA | {"use_bidirectional_attention": True, "attention_bias": True}
    assert_matches(config, weights("qkvo"), FORWARD([near] * 3), tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_act", "silu"),
        ("hidden_activation", "gelu"),
        ("rope_scaling", {"type": "linear", "factor": 2.0}),
        ("mlp_bias", True),
    ],
)
def test_refuses_what_it_does_not_compute(key: str, value: object, tmp_path: Path) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", GEMMA | {key: value}, weights())
    with pytest.raises(InputError, match=key):
        open_source(folder)
