"""Convolutions and batch normalisation against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import OpBuilder, ir, nn

from models.formulas.network_numpy import Weights, convolution, draw
from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.convolution import BatchNorm, Conv1d, Conv2d

RANDOM = np.random.default_rng(4)


def run(module: nn.Module, weights: Weights, x: np.ndarray) -> np.ndarray:
    values = {name: ir.tensor(array) for name, array in weights.items()}
    module.load_state_dict(values, strict=bool(values))

    def build(op: OpBuilder, x: ir.Value) -> ir.Value:
        return module(op, x)

    found: np.ndarray = run_graph(build, x=x.astype(np.float32))
    return found


@pytest.mark.parametrize(
    ("kernel", "padding", "stride"), [(1, 0, 1), (3, 1, 1), (5, 0, 1), (4, 1, 2), (3, 2, 3)]
)
@pytest.mark.parametrize("axes", [1, 2])
def test_is_the_sum_over_each_window(axes: int, kernel: int, padding: int, stride: int) -> None:
    """Kernel, padding and stride have PyTorch's meaning, and zeros stand around the data."""
    weights = draw({"weight": (5, 3, *[kernel] * axes), "bias": (5,)})
    conv = (Conv1d, Conv2d)[axes - 1](3, 5, kernel, padding=padding, stride=stride)
    x = RANDOM.normal(size=(2, 3, *(7, 9)[:axes]))
    expected = convolution(x, weights["weight"], padding, stride)
    expected += weights["bias"].reshape(-1, *[1] * axes)
    np.testing.assert_allclose(run(conv, weights, x), expected, atol=1e-5)


def test_without_a_bias() -> None:
    """A window of zeros gives zero."""
    found = run(Conv1d(3, 5, 2, bias=False), draw({"weight": (5, 3, 2)}), np.zeros((1, 3, 4)))
    assert found.shape == (1, 5, 3)
    assert not found.any()


def test_batch_normalisation() -> None:
    """Each channel is normalised by the stored mean and variance; a new layer by 0 and 1."""
    x = RANDOM.normal(size=(2, 3, 4, 5))
    np.testing.assert_allclose(run(BatchNorm(3, 0.25), {}, x), x / np.sqrt(1.25), atol=1e-6)
    names = ("weight", "bias", "running_mean", "running_var")
    weights = draw(dict.fromkeys(names, (3,)))
    weight, bias, mean, variance = (weights[name][:, None, None] for name in names)
    expected = (x - mean) / np.sqrt(variance + 1e-5) * weight + bias
    np.testing.assert_allclose(run(BatchNorm(3), weights, x), expected, atol=1e-5)
