"""Multiplication by a number."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.steps import Scale

X = np.random.default_rng(11).normal(size=(3, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_multiplies(run_step, opset: int) -> None:
    """Every element is multiplied, at every opset."""
    expected = [[2.5 * value for value in row] for row in X.tolist()]
    assert run_step(Scale(factor=2.5), X, MASK, opset) == pytest.approx(np.array(expected))
    assert Scale(factor=2.5).formula(X) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), "2", None])
def test_refuses_what_is_no_number(factor: object) -> None:
    """NaN, infinity and texts are refused."""
    with pytest.raises(ValidationError):
        Scale(factor=factor)


def test_reads_as_in_the_manifest() -> None:
    """The step shows its factor."""
    assert str(Scale(factor=127)) == "scale(factor=127.0)"
