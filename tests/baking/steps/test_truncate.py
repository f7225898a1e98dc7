"""Cutting embeddings, and their length afterwards."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import LayerNorm, Normalize, Truncate

X = np.random.default_rng(14).normal(size=(3, 7)).astype(np.float32)
UNIT = (X / np.sqrt((X**2).sum(axis=1, keepdims=True))).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_keeps_the_first_elements(run_step, opset: int) -> None:
    """The rest is cut, and a vector of length 1 gets shorter than 1, at every opset."""
    expected = np.array([row[:4] for row in UNIT.tolist()])
    found = run_step(Truncate(dimension=4), UNIT, MASK, opset)
    assert found == pytest.approx(expected, abs=1e-7)
    assert Truncate(dimension=4).formula(UNIT) == pytest.approx(expected, abs=1e-7)
    assert (np.sqrt((found**2).sum(axis=1)) < 0.99).all()


def test_renormalizes(run_step, opset: int) -> None:
    """With renormalize the cut vector is divided by its own length, at every opset."""
    left = np.array([row[:4] for row in X.tolist()])
    expected = left / np.sqrt((left**2).sum(axis=1, keepdims=True))
    step = Truncate(dimension=4, renormalize=True)
    assert run_step(step, X, MASK, opset) == pytest.approx(expected, abs=1e-6)
    assert step.formula(X) == pytest.approx(expected, abs=1e-6)


def test_orders_differ() -> None:
    """Cutting before and after the normalisations are three different vectors."""
    cut, normal = Truncate(dimension=4), Normalize()
    after = cut.formula(normal.formula(X))
    before = normal.formula(cut.formula(X))
    layered = normal.formula(cut.formula(LayerNorm().formula(X)))
    assert np.abs(after - before).max() > 0.01
    assert np.abs(layered - before).max() > 0.01


def test_works_on_tokens(run_step) -> None:
    """Token embeddings are cut one by one; the whole dimension cuts nothing."""
    tokens = np.stack([X, -X])
    mask = np.ones((2, 3), np.int64)
    assert run_step(Truncate(dimension=2), tokens, mask).shape == (2, 3, 2)
    np.testing.assert_array_equal(run_step(Truncate(dimension=7), tokens, mask), tokens)


def test_names_both_sizes(run_step) -> None:
    """More elements than there are is an error with both numbers."""
    with pytest.raises(InputError, match="dimension is 8 and the embedding has 7 elements"):
        run_step(Truncate(dimension=8), X, MASK)


@pytest.mark.parametrize(
    "parameters",
    [{"dimension": 0}, {"dimension": 2.5}, {"dimension": 4, "renormalize": "no"}, {}],
)
def test_refuses_wrong_parameters(parameters: dict[str, object]) -> None:
    """A dimension that is no positive whole number, and what is no boolean, are refused."""
    with pytest.raises(ValidationError):
        Truncate(**parameters)


def test_reads_as_in_the_manifest() -> None:
    """The step shows what it keeps."""
    assert str(Truncate(dimension=4)) == "truncate(dimension=4, renormalize=False)"
