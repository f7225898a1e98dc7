"""Subtraction of a fixed vector."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Subtract

X = np.random.default_rng(6).normal(size=(3, 7)).astype(np.float32)
VECTOR = np.random.default_rng(7).normal(size=7).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_subtracts(run_step, opset: int) -> None:
    """Every row loses the vector, at every opset."""
    step = Subtract(vector=VECTOR)
    expected = np.stack([row - VECTOR for row in X])
    assert run_step(step, X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert step.formula(X) == pytest.approx(expected, abs=1e-6)


def test_names_both_sizes(run_step) -> None:
    """A vector of another size than the embedding is an error with both sizes."""
    with pytest.raises(InputError, match="vector takes 6 elements and the embedding has 7"):
        run_step(Subtract(vector=VECTOR[:6]), X, MASK)


def test_refuses_what_is_no_vector() -> None:
    """A matrix is refused with its shape."""
    with pytest.raises(ValidationError, match=r"one row of finite numbers, found shape \[1, 7\]"):
        Subtract(vector=VECTOR[None])


def test_reads_as_in_the_manifest() -> None:
    """The step shows the vector's size, not its numbers."""
    assert str(Subtract(vector=VECTOR)) == "subtract(vector=7)"
