"""Qwen2 against an independent forward pass in NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder, decoder_weights
from models.formulas.rotary_numpy import HEADS, HIDDEN, Allowed, assert_matches, near
from polybake.baking.sources import open_source
from polybake.errors import InputError

SIZE = HIDDEN // HEADS
QWEN2: dict[str, Any] = DECODER | {"model_type": "qwen2"}
WINDOWS = {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}


def weights() -> dict[str, Any]:
    return decoder_weights(SIZE, biased="qkv")


def causal(length: int) -> Allowed:
    return near(length, after=0)


def windowed(length: int) -> Allowed:
    return near(length, before=2, after=0)


@pytest.mark.parametrize(
    ("settings", "visible"),
    [
        ({}, [causal] * 3),
        ({"sliding_window": 3, "max_window_layers": 1}, [causal] * 3),
        (WINDOWS, [causal, windowed, windowed]),
        (
            WINDOWS | {"layer_types": ["sliding_attention", "full_attention", "full_attention"]},
            [windowed, causal, causal],
        ),
        ({"is_causal": False}, [near] * 3),
        ({"use_bidirectional_attention": True}, [near] * 3),
    ],
    ids=["causal", "window not used", "windows", "layer types", "not causal", "bidirectional"],
)
def test_matches_numpy(settings: dict[str, Any], visible: list[Any], tmp_path: Path) -> None:
    """Every kept token's embedding equals the formula's, padded on either side."""
    assert_matches(QWEN2 | settings, weights(), decoder(SIZE, visible), tmp_path)


def test_takes_the_body_of_a_language_model(tmp_path: Path) -> None:
    """Names that begin with model., and a head beside them, are understood."""
    named = {f"model.{name}": array for name, array in weights().items()}
    head = {"lm_head.weight": named["model.embed_tokens.weight"]}
    open_source(write_bert(tmp_path / "model", QWEN2, named | head)).encoder.place()


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("num_key_value_heads", 3, "no multiple of num_key_value_heads 3"),
        ("hidden_act", "mish", "hidden_act: .*'mish'"),
        ("rope_scaling", {"rope_type": "yarn", "factor": 4.0}, "rope_scaling.rope_type: "),
        ("sliding_window", 0, "sliding_window: "),
        ("layer_types", ["full_attention"], "layer_types has 1 entries"),
        ("num_hidden_layers", 10**12, "num_hidden_layers: "),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", QWEN2 | {key: value}, weights())
    with pytest.raises(InputError, match=shown):
        open_source(folder)
