"""How far tokens attend, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.attention_window import AttentionWindow, window_bias

MASK = np.array([[1, 1, 1, 1], [0, 1, 1, 1]])


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
    """The bias is 0 within the window, finite and hiding elsewhere and for padding."""
    found = run_graph(lambda op, mask: window_bias(op, mask, window), mask=MASK)
    found = np.broadcast_to(found, (2, 1, 4, 4))[:, 0]
    within = np.array([[int(key) for key in row] for row in rows])
    expected = within[None] * MASK[:, None, :]
    np.testing.assert_array_equal(found == 0, expected == 1)
    assert np.isfinite(found).all()
    assert (np.exp(found[expected == 0] + 1e4) == 0).all()
