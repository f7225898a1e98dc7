"""Root mean square normalisation against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.rms_norm import OneBasedRMSNorm, RMSNorm


@pytest.mark.parametrize("epsilon", [1e-6, 0.5])
@pytest.mark.parametrize(("kind", "one"), [(RMSNorm, 0), (OneBasedRMSNorm, 1)])
def test_rows_are_divided_by_their_root_mean_square(
    kind: type[RMSNorm], one: int, epsilon: float
) -> None:
    """The mean is kept, the weight scales, epsilon is below the root, and zeros stay zeros."""
    x = np.random.default_rng(5).normal(2.0, 3.0, size=(2, 4, 7)).astype(np.float32)
    x[0, 0] = 0
    weight = np.arange(7, dtype=np.float32)
    norm = kind(7, epsilon)

    def build(op: Any, x: Any, weight: Any) -> Any:
        norm.weight = weight
        return norm.forward(op, x)

    found = run_graph(build, x=x, weight=weight)
    wide = x.astype(np.float64)
    expected = wide / np.sqrt((wide**2).mean(axis=-1, keepdims=True) + epsilon) * (one + weight)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
