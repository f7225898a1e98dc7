"""The activation functions that a model's configuration may ask for.

An allow-list: a configuration names an activation, and never a class to import.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir

Floats = NDArray[np.floating[Any]]

_SQRT_2 = math.sqrt(2.0)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_erf = np.vectorize(math.erf, otypes=[np.float64])


@dataclass(frozen=True)
class Activation:
    """An elementwise function, as ONNX operators and in NumPy."""

    build: Callable[[OpBuilder, ir.Value], ir.Value]
    numpy: Callable[[Floats], Floats]


def _gelu(op: OpBuilder, x: ir.Value) -> ir.Value:
    return op.Mul(op.Mul(x, op.Add(op.Erf(op.Div(x, _SQRT_2)), 1.0)), 0.5)


def _gelu_tanh(op: OpBuilder, x: ir.Value) -> ir.Value:
    cubic = op.Mul(op.Mul(x, op.Mul(x, x)), 0.044715)
    inner = op.Mul(op.Add(x, cubic), _SQRT_2_OVER_PI)
    return op.Mul(op.Mul(x, op.Add(op.Tanh(inner), 1.0)), 0.5)


#: The activations by name. ``gelu`` is exact, with erf; ``gelu_tanh`` is its approximation.
ACTIVATIONS: dict[str, Activation] = {
    "identity": Activation(lambda _, x: x, lambda x: x),
    "gelu": Activation(_gelu, lambda x: 0.5 * x * (1.0 + _erf(x / _SQRT_2))),
    "gelu_tanh": Activation(
        _gelu_tanh, lambda x: 0.5 * x * (1.0 + np.tanh(_SQRT_2_OVER_PI * (x + 0.044715 * x**3)))
    ),
    "quick_gelu": Activation(
        lambda op, x: op.Mul(x, op.Sigmoid(op.Mul(x, 1.702))),
        lambda x: x / (1.0 + np.exp(-1.702 * x)),
    ),
    "relu": Activation(lambda op, x: op.Relu(x), lambda x: np.maximum(x, 0.0)),
    "sigmoid": Activation(lambda op, x: op.Sigmoid(x), lambda x: 1.0 / (1.0 + np.exp(-x))),
    "silu": Activation(lambda op, x: op.Mul(x, op.Sigmoid(x)), lambda x: x / (1.0 + np.exp(-x))),
    "tanh": Activation(lambda op, x: op.Tanh(x), lambda x: np.tanh(x)),
}
