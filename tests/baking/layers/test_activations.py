"""The allow-list of activations."""

from __future__ import annotations

import numpy as np

from polybake.baking.layers.activations import ACTIVATIONS


def test_known_values() -> None:
    """Each function's NumPy form gives published values at 1 and -2."""
    expected = {
        "identity": (1.0, -2.0),
        "gelu": (0.8413447461, -0.0455002639),
        "gelu_tanh": (0.8411919906, -0.0454023059),
        "quick_gelu": (0.8457957659, -0.0643414900),
        "relu": (1.0, 0.0),
        "sigmoid": (0.7310585786, 0.1192029220),
        "silu": (0.7310585786, -0.2384058440),
        "tanh": (0.7615941560, -0.9640275801),
    }
    assert expected.keys() == ACTIVATIONS.keys()
    for name, values in expected.items():
        assert np.allclose(ACTIVATIONS[name].numpy(np.array([1.0, -2.0])), values, atol=1e-9)
