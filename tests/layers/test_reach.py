"""How far tokens attend, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.tiny_encoders import run_graph
from polybake.layers.reach import Reach, reach_bias

MASK = np.array([[1, 1, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize(
    ("reach", "rows"),
    [
        (Reach(), ["1111", "1111", "1111", "1111"]),
        (Reach(after=0), ["1000", "1100", "1110", "1111"]),
        (Reach(before=1, after=0), ["1000", "1100", "0110", "0011"]),
        (Reach(before=0, after=0), ["1000", "0100", "0010", "0001"]),
        (Reach(before=1, after=1), ["1100", "1110", "0111", "0011"]),
        (Reach(before=2, after=1), ["1100", "1110", "1111", "0111"]),
    ],
)
def test_reach_hides_the_rest(reach: Reach, rows: list[str]) -> None:
    """The bias is 0 within reach, finite and hiding elsewhere and for padding."""
    found = run_graph(lambda op, mask: reach_bias(op, mask, reach), mask=MASK)
    found = np.broadcast_to(found, (2, 1, 4, 4))[:, 0]
    within = np.array([[int(key) for key in row] for row in rows])
    expected = within[None] * MASK[:, None, :]
    np.testing.assert_array_equal(found == 0, expected == 1)
    assert np.isfinite(found).all()
    assert (np.exp(found[expected == 0] + 1e4) == 0).all()
