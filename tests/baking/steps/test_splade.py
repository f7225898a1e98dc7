"""SPLADE's pooling against its sums, text by text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Splade, State

X = np.random.default_rng(5).normal(0, 2, size=(3, 4, 5)).astype(np.float32)
MASK = np.array([[1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
GIVEN = State(X, np.zeros_like(MASK), MASK)


@pytest.mark.parametrize("activation", ["relu", "log1p_relu"])
@pytest.mark.parametrize("pooling", ["max", "sum"])
def test_pools_weights_of_tokens(run_steps, opset: int, pooling: str, activation: str) -> None:
    """Padding has no weight, and a text without tokens gives zeros."""

    def weight(x: float) -> float:
        once = math.log1p(max(x, 0.0))
        return once if activation == "relu" else math.log1p(once)

    pool = max if pooling == "max" else math.fsum
    expected = np.zeros((3, 5))
    for row in range(2):
        for place in range(5):
            tokens = range(MASK[row].sum())
            expected[row, place] = pool([weight(float(X[row, token, place])) for token in tokens])
    step = Splade(pooling=pooling, activation=activation)
    assert step.pools
    assert run_steps([step], GIVEN, opset) == pytest.approx(expected, abs=1e-6)
    assert step.numpy(GIVEN).x == pytest.approx(expected, abs=1e-6)


def test_refuses_what_is_pooled(run_steps) -> None:
    """The step is refused behind a pooling, where there are no tokens left."""
    with pytest.raises(InputError, match="splade takes token embeddings"):
        run_steps([Splade()], GIVEN.becomes(X[:, 0]))


@pytest.mark.parametrize("settings", [{"pooling": "mean"}, {"activation": "gelu"}])
def test_other_settings_are_refused(settings: dict[str, str]) -> None:
    """An unknown pooling or activation is refused with the names that exist."""
    with pytest.raises(ValidationError, match="Input should be"):
        Splade(**settings)
