"""Vectors that agree count as the same work."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import cosine, refusal


def test_cosine_is_that_of_the_farthest_text() -> None:
    """One wrong row among many is found, whatever the rows' lengths."""
    expected = np.array([[3.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert cosine(vectors, expected) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("precision", "found", "refused"),
    [
        ("float32", 0.999999, False),
        ("float32", 0.999, True),
        ("int8", 0.96, False),
        ("int8", 0.7, True),
    ],
)
def test_other_work_is_refused(precision: str, found: float, refused: bool) -> None:
    """float32 must be equal; int8 may be as far off as int8 takes a vector."""
    reason = refusal(precision, {"short": 1.0, "long": found, "single": 1.0})
    assert bool(reason) == refused
    if refused:
        assert f"{found:.5f}" in reason
        assert "'long'" in reason
