"""Activation functions as a step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.steps import Activation

X = np.random.default_rng(12).normal(scale=3, size=(4, 5)).astype(np.float32)
MASK = np.ones((4, 2), np.int64)
SOFTMAX = Activation(function="softmax")


def test_softmax_of_each_row_by_itself(run_step, opset: int) -> None:
    """Each number becomes its share of the row's powers of e, at every opset."""
    powers = [[math.exp(value) for value in row] for row in X.tolist()]
    expected = np.array([[power / sum(row) for power in row] for row in powers])
    assert run_step(SOFTMAX, X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert SOFTMAX.formula(X) == pytest.approx(expected, abs=1e-6)


def test_softmax_of_each_token(run_step, opset: int) -> None:
    """Softmax of token embeddings is taken over each token's own row."""
    x = np.stack([X, 2 * X])
    found = run_step(SOFTMAX, x, np.ones((2, 4), np.int64), opset)
    assert found.sum(axis=-1) == pytest.approx(np.ones((2, 4)), abs=1e-6)
    assert found == pytest.approx(SOFTMAX.formula(x), abs=1e-6)


def test_softmax_of_large_numbers(run_step) -> None:
    """Differences decide, so that no power is infinite."""
    x = np.float32([[1000, 1000, 900], [-1000, -1000, -1000]])
    expected = np.array([[0.5, 0.5, 0], [1 / 3] * 3])
    for found in (run_step(SOFTMAX, x, MASK[:2]), SOFTMAX.formula(x)):
        assert found == pytest.approx(expected, abs=1e-6)


def test_each_element_by_itself(run_step, opset: int) -> None:
    """The other functions are those of dense layers."""
    expected = np.array([[1 / (1 + math.exp(-value)) for value in row] for row in X.tolist()])
    sigmoid = Activation(function="sigmoid")
    assert run_step(sigmoid, X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert sigmoid.formula(X) == pytest.approx(expected, abs=1e-6)


def test_an_unknown_function_lists_the_known() -> None:
    """A name is one of the list, and nothing is imported by it."""
    with pytest.raises(ValidationError, match="unknown function 'os'; choose one of: softmax, id"):
        Activation(function="os")
