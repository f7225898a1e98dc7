"""The allow-list of activations."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.activations import ACTIVATIONS

#: Published values at 1 and -2.
VALUES = {
    "identity": (1.0, -2.0),
    "gelu": (0.8413447461, -0.0455002639),
    "gelu_tanh": (0.8411919906, -0.0454023059),
    "quick_gelu": (0.8457957659, -0.0643413769),
    "relu": (1.0, 0.0),
    "sigmoid": (0.7310585786, 0.1192029220),
    "silu": (0.7310585786, -0.2384058440),
    "tanh": (0.7615941560, -0.9640275801),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_have_published_values(name: str) -> None:
    """In NumPy, and in a graph."""
    x = np.array([1.0, -2.0])
    np.testing.assert_allclose(ACTIVATIONS[name].numpy(x), VALUES[name], atol=1e-9)
    found = run_graph(
        lambda op, x: op.Identity(ACTIVATIONS[name].build(op, x)), x=x.astype(np.float32)
    )
    np.testing.assert_allclose(found, VALUES[name], atol=1e-6)
