"""How two sets of vectors are compared."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.baking.proof import largest_difference

ROW = np.array([[3.0, 4.0]])
HALF = np.array([[0.0, 0.5]])


def test_is_relative_to_the_length_of_the_row() -> None:
    """Long and short vectors are judged alike: by the expected row's norm."""
    assert np.isclose(largest_difference(ROW + HALF, ROW), 0.1)
    assert np.isclose(largest_difference((ROW + HALF) * 1e-6, ROW * 1e-6), 0.1)
    assert largest_difference(ROW, ROW) == 0.0


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20, 1e37])
def test_no_size_of_float32_is_beyond_judging(scale: float) -> None:
    """Squares neither overflow nor vanish, so that nothing is taken for equal, or absolutely."""
    row = (ROW * scale).astype(np.float32)
    assert np.isclose(largest_difference(row * np.float32(1.1), row), 0.08, rtol=1e-5)


def test_takes_the_largest_of_all_rows() -> None:
    """One element of one row is enough."""
    expected = np.repeat(ROW, 3, axis=0)
    found = expected.copy()
    found[1, 0] -= 1.0
    assert np.isclose(largest_difference(found, expected), 0.2)


def test_a_zero_row_is_compared_absolutely() -> None:
    """Where nothing is expected, the difference itself counts."""
    assert largest_difference(ROW * 0.1, ROW * 0) == 0.4


def test_nan_is_never_small() -> None:
    """NaN on either side gives NaN, which no limit admits."""
    assert np.isnan(largest_difference(ROW * np.nan, ROW))
    assert np.isnan(largest_difference(ROW, ROW * np.nan))
