"""Keys of config.json that say how positions turn, of transformers 4 and 5."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from models.formulas.rotary_numpy import SIZES
from polybake.baking.encoders.rotary_config import OneThetaConfig, TwoThetasConfig

FULL = "full_attention"


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
    assert OneThetaConfig.model_validate(SIZES | settings).theta == theta


@pytest.mark.parametrize(
    ("settings", "theta"),
    [
        ({}, 3.0),
        ({"rope_parameters": {FULL: {"rope_theta": 7}}}, 7.0),
        ({"rope_parameters": {FULL: None, "sliding_attention": {"rope_theta": 7}}}, 3.0),
    ],
)
def test_two_thetas(settings: dict[str, Any], theta: float) -> None:
    """A type of layer has its own theta, or else the older key's."""
    assert TwoThetasConfig.model_validate(SIZES | settings).theta("full_attention", 3.0) == theta


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
    """Scaled positions and impossible heads are errors that name the key."""
    with pytest.raises(ValidationError, match=shown):
        OneThetaConfig.model_validate(SIZES | settings)


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling"),
        ({"rope_parameters": {FULL: {"rope_type": "linear"}}}, "rope_parameters.full_attention"),
        ({"layer_types": [FULL]}, "layer_types has 1 entries, expected num_hidden_layers 3"),
        ({"layer_types": [FULL, FULL, "chunked_attention"]}, r"layer_types\.2"),
    ],
)
def test_refuses_other_layers(settings: dict[str, Any], shown: str) -> None:
    """Unknown types of layers, or too few, are errors that name the key."""
    with pytest.raises(ValidationError, match=shown):
        TwoThetasConfig.model_validate(SIZES | settings)
