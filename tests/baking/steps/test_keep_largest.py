"""The step that keeps the largest elements."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import KeepLargest

X = np.array([[0.5, -3, 2, 0, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, -0.25]], np.float32)
MASK = np.ones((3, 2), np.int64)


def test_the_others_become_0(run_step, opset: int) -> None:
    """The elements furthest from 0 stay in place; among equal ones the first wins."""
    expected = np.array([[0, -3, 2, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, -0.25]], np.float32)
    step = KeepLargest(count=2)
    assert (run_step(step, X, MASK, opset) == expected).all()
    assert (step.formula(X) == expected).all()


def test_more_than_there_are_is_refused(run_step) -> None:
    """The message holds the count and the number of elements."""
    with pytest.raises(InputError, match="the count is 6 and the embedding has 5 elements"):
        run_step(KeepLargest(count=6), X, MASK)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2"])
def test_the_count_is_a_whole_number(count: object) -> None:
    """The count is a whole number above 0."""
    with pytest.raises(ValidationError):
        KeepLargest(count=count)
