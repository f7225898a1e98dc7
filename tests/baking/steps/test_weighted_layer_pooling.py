"""Weighted means of hidden states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from models.parts.tiny_encoders import run_graph
from polybake.errors import InputError
from polybake.steps import State, WeightedLayerPooling

STATES = [np.random.default_rng(n).normal(size=(2, 3, 5)).astype(np.float32) for n in range(4)]
WEIGHTS = np.array([0.5, 2, -0.25], np.float32)
MASK = np.ones((2, 3), np.int64)


def in_a_graph(step: WeightedLayerPooling, given: str = "s3") -> np.ndarray:
    def build(op: Any, **states: Any) -> Any:
        hidden = tuple(states.values())
        return step.build(op, State(states[given], None, None, hidden_states=hidden)).x

    return run_graph(build, **{f"s{number}": state for number, state in enumerate(STATES)})


def test_averages_the_states_from_the_first_one_on() -> None:
    """Each state counts by its weight, divided by the sum of the weights."""
    expected = (0.5 * STATES[1] + 2 * STATES[2] - 0.25 * STATES[3]) / 2.25
    step = WeightedLayerPooling(weights=WEIGHTS, layer_start=1)
    given = State(STATES[3], MASK, MASK, hidden_states=tuple(STATES))
    assert step.numpy(given).x == pytest.approx(expected, abs=1e-6)
    assert in_a_graph(step) == pytest.approx(expected, abs=1e-6)


def test_names_the_numbers_that_do_not_fit() -> None:
    """Another number of weights than states is refused."""
    step = WeightedLayerPooling(weights=WEIGHTS, layer_start=2)
    with pytest.raises(InputError, match=r"has 3 weights, and the encoder has 4 hidden states, 2"):
        in_a_graph(step)


def test_loses_no_step_before_it() -> None:
    """The step starts from the hidden states, so no step may stand before it."""
    with pytest.raises(InputError, match="what stands before it is lost; put it first"):
        in_a_graph(WeightedLayerPooling(weights=WEIGHTS, layer_start=1), given="s2")


def test_names_the_encoders_that_give_states(run_step) -> None:
    """An encoder without hidden states is refused."""
    step = WeightedLayerPooling(weights=WEIGHTS, layer_start=1)
    with pytest.raises(InputError, match="which only bert, camembert, distilbert"):
        run_step(step, STATES[3], MASK)


@pytest.mark.parametrize("change", [{"weights": WEIGHTS[:2] * [1, -0.25]}, {"layer_start": -1}])
def test_refuses_what_cannot_be_divided_by(change: dict[str, object]) -> None:
    """A sum of 0 and a negative first state are refused."""
    with pytest.raises(ValidationError):
        WeightedLayerPooling(**{"weights": WEIGHTS, **change})


def test_reads_as_in_the_manifest() -> None:
    """The step shows how many weights it has."""
    step = WeightedLayerPooling(weights=WEIGHTS)
    assert str(step) == "weighted_layer_pooling(weights=3, layer_start=4)"
