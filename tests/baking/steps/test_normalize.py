"""L2 normalisation against its formula."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.steps import Normalize

X = np.random.default_rng(4).normal(size=(3, 7)).astype(np.float32) * [[1], [1e-6], [50]]
MASK = np.ones((3, 2), np.int64)


def test_gives_length_one(run_step, opset: int) -> None:
    """Each row is divided by the root of its sum of squares, at every opset."""
    found = run_step(Normalize(), X, MASK, opset)
    expected = X / np.sqrt((X**2).sum(axis=1, keepdims=True))
    assert found == pytest.approx(expected, abs=1e-6)
    assert Normalize().formula(X) == pytest.approx(expected, abs=1e-6)


def test_works_on_tokens(run_step) -> None:
    """Token embeddings are normalised one by one."""
    tokens = np.random.default_rng(5).normal(size=(2, 3, 5)).astype(np.float32)
    found = run_step(Normalize(), tokens, np.ones((2, 3), np.int64))
    assert np.sqrt((found**2).sum(axis=2)) == pytest.approx(np.ones((2, 3)), abs=1e-6)


def test_guards_short_vectors(run_step) -> None:
    """A zero vector stays zero, and one shorter than 1e-12 is divided by 1e-12."""
    x = np.array([[0.0, 0.0], [3e-13, 4e-13]], np.float32)
    expected = [[0.0, 0.0], [0.3, 0.4]]
    mask = np.ones((2, 1), np.int64)
    assert run_step(Normalize(), x, mask) == pytest.approx(np.array(expected), abs=1e-6)
    assert Normalize().formula(x) == pytest.approx(np.array(expected), abs=1e-6)


def test_reads_as_in_the_manifest() -> None:
    """The step shows itself without parameters."""
    assert str(Normalize()) == "normalize()"
