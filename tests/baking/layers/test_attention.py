"""Attention, and how far it reaches, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.attention import attend, padding_bias
from polybake.baking.layers.attention_window import AttentionWindow, window_bias

HEADS, SIZE = 6, 5
MASK = np.array([[1, 1, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize("key_value_heads", [None, 6, 2, 1])
@pytest.mark.parametrize("scale", [None, 1.0, 0.7])
def test_attend_matches_numpy(key_value_heads: int | None, scale: float | None) -> None:
    """Each query head mixes the values of its own or its group's head, with bias and scale."""
    random = np.random.default_rng(2)
    stored = key_value_heads or HEADS
    query = random.normal(size=(2, HEADS, 4, SIZE)).astype(np.float32)
    key, value = random.normal(size=(2, 2, stored, 4, SIZE)).astype(np.float32)
    bias = random.normal(size=(1, HEADS, 4, 4)).astype(np.float32)

    def build(op: Any, **values: Any) -> Any:
        settings: dict[str, Any] = {"key_value_heads": key_value_heads, "scale": scale}
        return attend(op, **values, heads=HEADS, head_size=SIZE, **settings)

    found = run_graph(build, query=query, key=key, value=value, bias=bias)
    expected = np.zeros((2, 4, HEADS * SIZE))
    for batch, head in np.ndindex(2, HEADS):
        group = head * stored // HEADS
        scores = query[batch, head] @ key[batch, group].T * (scale or 1 / np.sqrt(SIZE))
        weights = np.exp(scores + bias[0, head])
        mixed = weights / weights.sum(axis=1, keepdims=True) @ value[batch, group]
        expected[batch, :, head * SIZE : (head + 1) * SIZE] = mixed
    np.testing.assert_allclose(found, expected, atol=1e-6)


def assert_hides(bias: np.ndarray, within: np.ndarray) -> None:
    """It is 0 within, and elsewhere finite and hiding, whatever the scores."""
    bias = np.broadcast_to(bias, (2, 1, 4, 4))[:, 0]
    np.testing.assert_array_equal(bias == 0, within == 1)
    assert np.isfinite(bias).all()
    assert (np.exp(bias[within == 0] + 1e4) == 0).all()


def test_masked_tokens_have_no_weight() -> None:
    """All tokens see the kept ones."""
    found = run_graph(padding_bias, attention_mask=MASK)
    assert_hides(found, np.broadcast_to(MASK[:, None, :], (2, 4, 4)))


@pytest.mark.parametrize(
    ("window", "rows"),
    [
        (AttentionWindow(), ["1111", "1111", "1111", "1111"]),
        (AttentionWindow(after=0), ["1000", "1100", "1110", "1111"]),
        (AttentionWindow(before=1, after=0), ["1000", "1100", "0110", "0011"]),
        (AttentionWindow(before=0, after=0), ["1000", "0100", "0010", "0001"]),
        (AttentionWindow(before=1, after=1), ["1100", "1110", "0111", "0011"]),
        (AttentionWindow(before=2, after=1), ["1100", "1110", "1111", "0111"]),
    ],
)
def test_reach_hides_the_rest(window: AttentionWindow, rows: list[str]) -> None:
    """Kept tokens are seen within the window alone."""
    found = run_graph(lambda op, mask: window_bias(op, mask, window), mask=MASK)
    within = np.array([[int(key) for key in row] for row in rows])
    assert_hides(found, within[None] * MASK[:, None, :])
