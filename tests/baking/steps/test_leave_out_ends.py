"""Leaving the first and the last tokens of texts out."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import LeaveOutEnds, Pool, State, Unpad

X = np.random.default_rng(3).normal(size=(4, 5, 2)).astype(np.float32)
IDS = np.arange(20).reshape(4, 5)
#: Rows padded on the right and on the left, one whole, one shorter than what is left out.
MASK = np.array([[1, 1, 1, 1, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
GIVEN = State(X, IDS, MASK)


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [(1, 1, [[1, 2], [2, 3], [1, 2, 3], []]), (0, 2, [[0, 1], [1, 2], [0, 1, 2], []])],
)
def test_counts_from_both_ends(
    run_steps, opset: int, first: int, last: int, kept: list[list[int]]
) -> None:
    """Padding is not counted, on either side."""
    steps = [LeaveOutEnds(first=first, last=last), Unpad()]
    expected = np.concatenate([X[row, places] for row, places in enumerate(kept)])
    assert (run_steps(steps, GIVEN, opset) == expected).all()
    state = GIVEN
    for step in steps:
        state = step.numpy(state)
    assert (state.x == expected).all()
    assert state.counts is not None
    assert state.counts.tolist() == [*map(len, kept)]


@pytest.mark.parametrize("given", [{"first": -1}, {"last": 1.5}, {"last": "1"}, {"ends": 1}])
def test_refuses_what_is_no_number_of_tokens(given: dict[str, object]) -> None:
    """Negative numbers, fractions, texts and other keys are refused."""
    with pytest.raises(ValidationError):
        LeaveOutEnds(**given)


def test_names_its_place(run_steps) -> None:
    """The step is refused behind the pooling, where there are no tokens left."""
    with pytest.raises(InputError, match="leave_out_ends takes token embeddings"):
        run_steps([Pool(mode="mean"), LeaveOutEnds(first=1)], GIVEN)
