"""Weights of tokens, alone and before a pooling."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polybake.errors import InputError
from polybake.steps import Pool, State, WordWeights

X = np.random.default_rng(3).normal(size=(3, 4, 5)).astype(np.float32)
IDS = np.array([[2, 1, 3, 0], [1, 3, 1, 1], [2, 3, 1, 0]])
MASK = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
WEIGHTS = np.array([9, 0.5, 2, 0.25], np.float32)
GIVEN = State(X, IDS, MASK)

#: The power of a token's place that a mode multiplies by, and of the weights' sum it divides by.
MODES = {"mean": (0, 1), "mean_sqrt_len_tokens": (0, 0.5), "weightedmean": (1, 1)}


def numpy(steps: list[Pool | WordWeights]) -> np.ndarray:
    state = GIVEN
    for step in steps:
        state = step.numpy(state)
    return state.x


def test_multiplies_each_token(run_steps, opset: int) -> None:
    """Padding is multiplied by 0, every other token by its id's weight."""
    expected = X * (WEIGHTS[IDS] * MASK)[:, :, None]
    steps = [WordWeights(weights=WEIGHTS)]
    assert run_steps(steps, GIVEN, opset) == pytest.approx(expected, abs=1e-6)
    assert numpy(steps) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("mode", MODES)
def test_means_divide_by_the_weights(run_steps, mode: str) -> None:
    """The sum of a text's weights takes the place of the number of its tokens."""
    of_place, of_sum = MODES[mode]
    expected = np.zeros((3, 5))
    for row in range(2):
        present = range(MASK[row].sum())
        total = math.fsum(WEIGHTS[IDS[row, place]] for place in present)
        weighted = [
            X[row, place] * WEIGHTS[IDS[row, place]] * (place + 1) ** of_place for place in present
        ]
        expected[row] = sum(weighted) / total**of_sum
    steps = [WordWeights(weights=WEIGHTS), Pool(mode=mode)]
    assert run_steps(steps, GIVEN) == pytest.approx(expected, abs=1e-6)
    assert numpy(steps) == pytest.approx(expected, abs=1e-6)


def test_refuses_what_is_pooled(run_steps) -> None:
    """After the pooling there are no tokens to weigh."""
    with pytest.raises(InputError, match="put it before the step that pools"):
        run_steps([WordWeights(weights=WEIGHTS)], GIVEN.becomes(X[:, 0]))


def test_reads_as_in_the_manifest() -> None:
    """The step shows how many weights it has."""
    assert str(WordWeights(weights=WEIGHTS)) == "word_weights(weights=4)"
