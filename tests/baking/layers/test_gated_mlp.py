"""Gates against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.gated_mlp import gated


@pytest.mark.parametrize("activation", ["silu", "gelu", "gelu_tanh"])
def test_the_gate_is_activated_and_the_other_is_not(activation: str) -> None:
    """The result is activation(gate) * x."""
    gate, x = np.random.default_rng(6).normal(size=(2, 3, 5)).astype(np.float32)
    found = run_graph(lambda op, gate, x: gated(op, activation, gate, x), gate=gate, x=x)
    np.testing.assert_allclose(found, ACTIVATIONS[activation].numpy(gate) * x, atol=1e-6)
