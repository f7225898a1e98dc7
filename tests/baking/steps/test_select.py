"""The step that chooses elements by their places."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Select

X = np.random.default_rng(11).normal(size=(3, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_keeps_elements_in_the_order_of_their_places(run_step, opset: int) -> None:
    """Graph and formula keep the same elements in the same order, at every opset."""
    expected = np.array([[row[4], row[0]] for row in X.tolist()], np.float32)
    step = Select(places=(4, 0))
    assert (run_step(step, X, MASK, opset) == expected).all()
    assert (step.formula(X) == expected).all()
    assert str(step) == "select(places=(4, 0))"


def test_a_place_that_is_not_there_is_named(run_step, opset: int) -> None:
    """Places count from 0, and one beyond the embedding is named."""
    with pytest.raises(InputError, match="place 7 is chosen, and the embedding has 7 elements"):
        run_step(Select(places=(7,)), X, MASK, opset)


@pytest.mark.parametrize("places", [(), (-1,), (0.5,), ("0",)])
def test_places_are_whole_numbers(places: tuple[object, ...]) -> None:
    """A list of places has at least one, and none is negative, a fraction or a text."""
    with pytest.raises(ValidationError):
        Select(places=places)
