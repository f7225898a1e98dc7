"""Mean pooling against its formula."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Pool

X = np.random.default_rng(3).normal(size=(3, 5, 7)).astype(np.float32)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1]])
EXPECTED = np.stack([X[0].mean(axis=0), X[1, :2].mean(axis=0), X[2, 2:].mean(axis=0)])


def test_averages_the_kept_tokens(run_step, opset: int) -> None:
    """Padding on either side takes no part, at every opset."""
    found = run_step(Pool(mode="mean"), X, MASK, opset)
    assert found == pytest.approx(EXPECTED, abs=1e-6)


def test_numpy_form() -> None:
    """The NumPy form is the same formula."""
    assert Pool(mode="mean").numpy(X, MASK) == pytest.approx(EXPECTED, abs=1e-6)


def test_nothing_kept_gives_zeros(run_step) -> None:
    """A row without any token is the zero vector, not NaN, in both forms."""
    mask = np.zeros_like(MASK)
    assert not run_step(Pool(mode="mean"), X, mask).any()
    assert not Pool(mode="mean").numpy(X, mask).any()


def test_refuses_a_pooled_vector(run_step) -> None:
    """Pooling twice is an error that says what was found."""
    with pytest.raises(InputError, match=r"one vector a text already; drop the pool step"):
        run_step(Pool(mode="mean"), X[:, 0], MASK)


def test_refuses_unknown_modes() -> None:
    """A mode that is not there names the choices."""
    with pytest.raises(ValidationError, match="'mean'"):
        Pool(mode="median")


def test_reads_as_in_the_manifest() -> None:
    """The step shows itself with its parameters."""
    assert str(Pool(mode="mean")) == "pool(mode=mean)"
