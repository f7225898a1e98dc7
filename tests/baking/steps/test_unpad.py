"""The step that puts the rows of all texts together."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.errors import InputError
from polybake.steps import LeaveOut, State, Unpad

X = np.random.default_rng(3).normal(size=(3, 4, 5)).astype(np.float32)
IDS = np.array([[2, 1, 3, 0], [1, 3, 1, 1], [2, 3, 1, 0]])
MASK = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
GIVEN = State(X, IDS, MASK)


def test_keeps_the_rows_that_count(run_steps, opset: int) -> None:
    """Rows come text after text, without those that an earlier step left out."""
    steps = [LeaveOut(ids=(1,)), Unpad()]
    expected = np.stack([X[0, 0], X[0, 2], X[1, 1]])
    assert (run_steps(steps, GIVEN, opset) == expected).all()
    state = GIVEN
    for step in steps:
        state = step.numpy(state)
    assert (state.x == expected).all()
    assert state.counts is not None
    assert state.counts.tolist() == [2, 1, 0]


def test_refuses_what_is_pooled(run_steps) -> None:
    """A pooled model has one row a text already."""
    with pytest.raises(InputError, match="unpad takes token embeddings"):
        run_steps([Unpad()], GIVEN.becomes(X[:, 0]))
