"""Mistral against an independent forward pass in NumPy."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from models.folders.tiny_folders import write_bert
from models.formulas.decoder_numpy import DECODER, decoder, decoder_weights
from models.formulas.rotary_numpy import HEADS, HIDDEN, assert_matches, near
from polybake.baking.sources import open_source
from polybake.errors import InputError

MISTRAL: dict[str, Any] = DECODER | {"model_type": "mistral"}


@pytest.mark.parametrize("window", [3, None])
@pytest.mark.parametrize("head_dim", [10, None])
def test_matches_numpy(window: int | None, head_dim: int | None, tmp_path: Path) -> None:
    """A token attends to itself and the window - 1 tokens before it, in every layer."""
    size = head_dim or HIDDEN // HEADS
    before = math.inf if window is None else window - 1
    forward = decoder(size, [lambda length: near(length, before, 0)] * 3)
    config = MISTRAL | {"sliding_window": window, "head_dim": head_dim}
    assert_matches(config, decoder_weights(size), forward, tmp_path)


def test_layers_of_two_types(tmp_path: Path) -> None:
    """A full-attention layer among sliding-window layers attends to all earlier tokens."""
    types = ["sliding_attention", "full_attention", "sliding_attention"]
    sliding, full = partial(near, before=2, after=0), partial(near, after=0)
    config = MISTRAL | {"sliding_window": 3, "layer_types": types}
    forward = decoder(HIDDEN // HEADS, [sliding, full, sliding])
    assert_matches(config, decoder_weights(HIDDEN // HEADS), forward, tmp_path)


@pytest.mark.parametrize("key", ["is_causal", "use_bidirectional_attention"])
def test_attends_to_both_sides(key: str, tmp_path: Path) -> None:
    """Where the configuration says so; a window then counts tokens on each side."""
    config = MISTRAL | {"sliding_window": 3, key: key != "is_causal"}
    forward = decoder(HIDDEN // HEADS, [partial(near, before=3, after=3)] * 3)
    assert_matches(config, decoder_weights(HIDDEN // HEADS), forward, tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("layer_types", ["full_attention"], "layer_types has 1 entries"),
        ("sliding_window", -1, "sliding_window: "),
        ("rope_scaling", {"type": "linear", "factor": 2.0}, "rope_scaling.*type: "),
        ("head_dim", 7, "head size 7 is odd"),
    ],
)
def test_refuses_what_it_does_not_compute(
    key: str, value: object, shown: str, tmp_path: Path
) -> None:
    """A configuration outside the formula is an error that names the key."""
    folder = write_bert(tmp_path / "model", MISTRAL | {key: value}, decoder_weights(6))
    with pytest.raises(InputError, match=shown):
        open_source(folder)
