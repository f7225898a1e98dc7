"""Whitening against its formula."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Whiten

RANDOM = np.random.default_rng(15)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
MEAN = RANDOM.normal(size=7).astype(np.float32)
MATRIX = RANDOM.normal(size=(7, 4)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_maps_the_centred_embedding(run_step, opset: int) -> None:
    """The mean is subtracted, then the matrix applied from the right, at every opset."""
    expected = np.einsum("bi,io->bo", X.astype(np.float64) - MEAN, MATRIX)
    step = Whiten(mean=MEAN, matrix=MATRIX)
    assert run_step(step, X, MASK, opset) == pytest.approx(expected, abs=1e-5)
    assert step.formula(X) == pytest.approx(expected, abs=1e-5)


def test_names_both_sizes(run_step) -> None:
    """A fit of another encoder is an error with both sizes."""
    with pytest.raises(InputError, match="mean takes 7 elements and the embedding has 6"):
        run_step(Whiten(mean=MEAN, matrix=MATRIX), X[:, :6], MASK)


@pytest.mark.parametrize(
    ("mean", "matrix", "shown"),
    [
        (MEAN, MATRIX.T, "matrix\n.*takes 4 elements and the mean has 7"),
        (MEAN, MEAN, r"matrix\n.*expected rows of finite numbers, found shape \[7\]"),
        (MEAN, MATRIX * np.float32(np.nan), "matrix\n.*finite"),
        (MATRIX, MATRIX, r"mean\n.*expected one row"),
    ],
)
def test_refuses_arrays_that_do_not_fit(mean: np.ndarray, matrix: np.ndarray, shown: str) -> None:
    """A transposed matrix, a wrong rank and NaN are refused."""
    with pytest.raises(ValidationError, match=shown):
        Whiten(mean=mean, matrix=matrix)


def test_reads_as_in_the_manifest() -> None:
    """The step shows the shapes of its arrays."""
    assert str(Whiten(mean=MEAN, matrix=MATRIX)) == "whiten(mean=7, matrix=7x4)"
