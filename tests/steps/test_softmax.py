"""Probabilities."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polybake.steps import Softmax

X = np.random.default_rng(12).normal(scale=3, size=(4, 5)).astype(np.float32)
MASK = np.ones((4, 2), np.int64)


def test_each_row_by_itself(run_step, opset: int) -> None:
    """Each number is its power of e beside those of its row, at every opset."""
    powers = [[math.exp(value) for value in row] for row in X.tolist()]
    expected = np.array([[power / sum(row) for power in row] for row in powers])
    assert run_step(Softmax(), X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert Softmax().formula(X) == pytest.approx(expected, abs=1e-6)


def test_of_tokens(run_step, opset: int) -> None:
    """Each token's row by itself, where there is one for each."""
    x = np.stack([X, 2 * X])
    found = run_step(Softmax(), x, np.ones((2, 4), np.int64), opset)
    assert found.sum(axis=-1) == pytest.approx(np.ones((2, 4)), abs=1e-6)
    assert found == pytest.approx(Softmax().formula(x), abs=1e-6)


def test_large_numbers(run_step) -> None:
    """Differences decide, so that no power is infinite."""
    x = np.float32([[1000, 1000, 900], [-1000, -1000, -1000]])
    expected = np.array([[0.5, 0.5, 0], [1 / 3] * 3])
    for found in (run_step(Softmax(), x, MASK[:2]), Softmax().formula(x)):
        assert found == pytest.approx(expected, abs=1e-6)
