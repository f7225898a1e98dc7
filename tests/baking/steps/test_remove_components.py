"""Removal of shared directions against its formula."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import RemoveComponents

RANDOM = np.random.default_rng(17)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
MEAN = RANDOM.normal(size=7).astype(np.float32)
COMPONENTS = np.linalg.qr(RANDOM.normal(size=(7, 2)))[0].T.astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_removes_each_projection(run_step, opset: int) -> None:
    """What is left of the centred embedding is at right angles to each row, at every opset."""
    expected = X.astype(np.float64) - MEAN
    for row in COMPONENTS.astype(np.float64):
        expected = np.stack([one - sum(one * row) * row for one in expected])
    step = RemoveComponents(mean=MEAN, components=COMPONENTS)
    found = run_step(step, X, MASK, opset)
    assert found == pytest.approx(expected, abs=1e-5)
    assert step.formula(X) == pytest.approx(expected, abs=1e-5)
    assert np.einsum("bi,ci->bc", found, COMPONENTS) == pytest.approx(np.zeros((3, 2)), abs=1e-5)


def test_names_both_sizes(run_step) -> None:
    """A fit of another encoder is an error with both sizes."""
    with pytest.raises(InputError, match="mean takes 7 elements and the embedding has 6"):
        run_step(RemoveComponents(mean=MEAN, components=COMPONENTS), X[:, :6], MASK)


@pytest.mark.parametrize(
    ("components", "shown"),
    [
        (COMPONENTS * 1.01, "the 2 rows of 7 elements are not of length 1"),
        (COMPONENTS[[0, 0]], "at right angles"),
        (COMPONENTS.T, "takes 2 elements and the mean has 7"),
    ],
)
def test_refuses_what_is_no_projection(components: np.ndarray, shown: str) -> None:
    """Rows of another length, parallel rows and a transposed array are refused."""
    with pytest.raises(ValidationError, match=shown):
        RemoveComponents(mean=MEAN, components=components.astype(np.float32))


def test_reads_as_in_the_manifest() -> None:
    """The step shows the shapes of its arrays."""
    step = RemoveComponents(mean=MEAN, components=COMPONENTS)
    assert str(step) == "remove_components(mean=7, components=2x7)"
