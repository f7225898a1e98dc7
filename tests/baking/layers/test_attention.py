"""How far attention reaches; tests/oracle has what it gives."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.attention import AttentionWindow, padding_bias, window_bias

MASK = np.array([[1, 1, 1, 1], [0, 1, 1, 1]])


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
