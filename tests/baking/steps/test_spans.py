"""The probabilities of answers."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Spans, State, Unpad

X = np.random.default_rng(3).normal(size=(3, 6, 2)).astype(np.float32)
IDS = np.arange(18).reshape(3, 6)
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]])
SOUGHT = np.array([[0, 0, 1, 1, 1, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
GIVEN = State(X, IDS, MASK, sought=SOUGHT)


def by_hand(row: int, most: int) -> np.ndarray:
    """The probabilities of a row's spans, by begin and length; the first token is no answer."""
    (first,) = np.flatnonzero(MASK[row])[:1]
    (places,) = np.nonzero(SOUGHT[row])
    legal = [int(first), *map(int, places)]
    powers = np.exp(X[row, legal].astype(np.float64))
    begins, ends = (powers / powers.sum(axis=0)).T
    spans = np.zeros((len(legal), most))
    for begin in range(1, len(legal)):
        for end in range(begin, min(begin + most, len(legal))):
            spans[begin, end - begin] = begins[begin] * ends[end]
    spans[0, 0] = begins[0] * ends[0]
    return spans


@pytest.mark.parametrize("most", [1, 2, 9])
def test_multiplies_beginnings_and_ends(run_steps, opset: int, most: int) -> None:
    """A span lies in the sought text and has at most ``most`` tokens, or is the first token."""
    steps = [Spans(most=most), Unpad()]
    expected = np.concatenate([by_hand(row, most) for row in range(3)])
    assert run_steps(steps, GIVEN, opset) == pytest.approx(expected, abs=1e-6)
    state = GIVEN.becomes(X.astype(np.float64))
    for step in steps:
        state = step.numpy(state)
    assert state.x == pytest.approx(expected, abs=1e-9)
    assert state.counts is not None
    assert state.counts.tolist() == [4, 2, 1]


@pytest.mark.parametrize("most", [0, -1, 1.5, 513, "15"])
def test_refuses_what_is_no_length(most: object) -> None:
    """Zero, negatives, fractions, lengths above 512 and texts are refused."""
    with pytest.raises(ValidationError):
        Spans(most=most)


def test_names_what_does_not_fit(run_steps) -> None:
    """Rows of more than two numbers, and rows of single texts, are refused by name."""
    three = np.concatenate([X, X[..., :1]], axis=2)
    with pytest.raises(InputError, match="spans: a beginning and an end takes 2 elements"):
        run_steps([Spans()], GIVEN.becomes(three))
    with pytest.raises(InputError, match="spans: rows are single texts; expected questions"):
        run_steps([Spans()], State(X, IDS, MASK))
