"""Principal components against their formula."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Pca

RANDOM = np.random.default_rng(16)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
MEAN = RANDOM.normal(size=7).astype(np.float32)
COMPONENTS = RANDOM.normal(size=(4, 7)).astype(np.float32)
MASK = np.ones((3, 2), np.int64)


def test_gives_the_coordinates(run_step, opset: int) -> None:
    """Each element is a component's product with the centred embedding, at every opset."""
    expected = np.einsum("bi,oi->bo", X.astype(np.float64) - MEAN, COMPONENTS)
    step = Pca(mean=MEAN, components=COMPONENTS)
    assert run_step(step, X, MASK, opset) == pytest.approx(expected, abs=1e-5)
    assert step.formula(X) == pytest.approx(expected, abs=1e-5)


def test_names_both_sizes(run_step) -> None:
    """A fit of another encoder is an error with both sizes."""
    with pytest.raises(InputError, match="mean takes 7 elements and the embedding has 6"):
        run_step(Pca(mean=MEAN, components=COMPONENTS), X[:, :6], MASK)


def test_refuses_transposed_components() -> None:
    """The rows of the array are the components."""
    with pytest.raises(ValidationError, match="takes 4 elements and the mean has 7"):
        Pca(mean=MEAN, components=COMPONENTS.T)


def test_reads_as_in_the_manifest() -> None:
    """The step shows the shapes of its arrays."""
    assert str(Pca(mean=MEAN, components=COMPONENTS)) == "pca(mean=7, components=4x7)"
