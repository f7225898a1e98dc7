"""Root mean square normalisation against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.rotary_numpy import rms_norm
from models.tiny_encoders import run_graph
from polybake.layers.rms_norm import RMSNorm


def test_rows_are_divided_by_their_root_mean_square() -> None:
    """The mean is kept, the weight scales, and a row of zeros stays zero."""
    x = np.random.default_rng(5).normal(2.0, 3.0, size=(2, 4, 7)).astype(np.float32)
    x[0, 0] = 0
    weight = np.arange(7, dtype=np.float32)
    norm = RMSNorm(7, 1e-6)

    def build(op: Any, x: Any, weight: Any) -> Any:
        norm.weight = weight
        return norm.forward(op, x)

    found = run_graph(build, x=x, weight=weight)
    np.testing.assert_allclose(found, rms_norm(x.astype(np.float64), weight), rtol=1e-5)
