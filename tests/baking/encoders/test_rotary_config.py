"""Keys of config.json that say how positions turn, of transformers 4 and 5."""

from __future__ import annotations

from typing import Any

import pytest

from models.formulas.rotary_numpy import SIZES
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.layers.rotary import frequencies
from polybake.errors import InputError

FULL, SLIDING = "full_attention", "sliding_attention"


def one_theta(settings: dict[str, Any]) -> tuple[tuple[float, ...], ...]:
    config = EncoderConfig(SIZES | settings)
    return config.one_theta(config.rotary_sizes(), 10_000.0).frequencies


def two_thetas(settings: dict[str, Any]) -> tuple[tuple[float, ...], ...]:
    config = EncoderConfig(SIZES | settings)
    options = config.layer_types(config.rotary_sizes(), 9, lambda layer: layer > 0)
    return config.two_thetas(options, 3.0, 5.0).frequencies


def turns(*thetas: float) -> tuple[tuple[float, ...], ...]:
    size = EncoderConfig(SIZES).rotary_sizes().head_size
    return tuple(frequencies(size, theta) for theta in thetas)


@pytest.mark.parametrize(
    ("settings", "theta"),
    [
        ({}, 10_000.0),
        ({"rope_theta": 5}, 5.0),
        ({"rope_theta": 5, "rope_scaling": None}, 5.0),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 7.5}}, 7.5),
        ({"rope_parameters": {"rope_type": "default"}, "rope_theta": 5}, 5.0),
        ({"rope_scaling": {"type": "default"}, "rope_theta": 5}, 5.0),
    ],
)
def test_one_theta(settings: dict[str, Any], theta: float) -> None:
    """Theta stands alone or in rope_parameters, which win."""
    assert one_theta(settings) == turns(theta, theta, theta)


@pytest.mark.parametrize(
    ("settings", "theta"),
    [
        ({}, 3.0),
        ({"rope_parameters": {FULL: {"rope_theta": 7}}}, 7.0),
        ({"rope_parameters": {FULL: None, SLIDING: {"rope_theta": 5}}}, 3.0),
    ],
)
def test_two_thetas(settings: dict[str, Any], theta: float) -> None:
    """A type of layer has its own theta, or else the older key's."""
    assert two_thetas(settings) == turns(theta, 5.0, 5.0)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"rope_parameters": {"rope_type": "llama3"}}, r"rope_parameters\.rope_type"),
        ({"rope_parameters": {"rope_theta": 0}}, r"rope_parameters\.rope_theta"),
        ({"rope_theta": -1}, "rope_theta"),
        ({"rope_theta": float("inf")}, "rope_theta"),
    ],
)
def test_refuses_other_rotations(settings: dict[str, Any], shown: str) -> None:
    """Scaled positions and impossible thetas are errors that name the key."""
    with pytest.raises(InputError, match=shown):
        one_theta(settings)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling"),
        ({"rope_parameters": {FULL: {"rope_type": "linear"}}}, "rope_parameters.full_attention"),
        ({"rope_parameters": {"rope_theta": None}}, "rope_parameters.rope_theta: expected keys"),
        ({"layer_types": [FULL]}, "layer_types has 1 entries, expected num_hidden_layers 3"),
        ({"layer_types": [FULL, FULL, "chunked_attention"]}, r"layer_types\[2\]"),
    ],
)
def test_refuses_other_layers(settings: dict[str, Any], shown: str) -> None:
    """Unknown types of layers, or too few, are errors that name the key."""
    with pytest.raises(InputError, match=shown):
        two_thetas(settings)
