"""Layers in NumPy, written as their formulas: float64, one place after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Weights = dict[str, Floats]


def draw(shapes: dict[str, tuple[int, ...]], seed: int = 1) -> Weights:
    """float32 weights of std 0.2 by name; a variance is positive."""
    random = np.random.default_rng(seed)
    drawn = {name: random.normal(0.0, 0.2, shape) for name, shape in shapes.items()}
    return {
        name: (np.abs(array) + 0.5 if name.endswith("running_var") else array).astype(np.float32)
        for name, array in drawn.items()
    }


def linear_shapes(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def linear(x: Floats, w: Weights, name: str) -> Floats:
    return x @ w[f"{name}.weight"].T.astype(np.float64) + w[f"{name}.bias"]


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def convolution(x: Floats, weight: Floats, padding: int, stride: int = 1) -> Floats:
    """``[batch, in, *places]`` and ``[out, in, *kernel]`` to ``[batch, out, *places]``."""
    axes = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * axes])
    sizes = [(x.shape[2 + axis] - weight.shape[2 + axis]) // stride + 1 for axis in range(axes)]
    y = np.zeros((len(x), len(weight), *sizes))
    for place in np.ndindex(*sizes):
        window = tuple(
            slice(stride * at, stride * at + kernel)
            for at, kernel in zip(place, weight.shape[2:], strict=True)
        )
        seen = x[(slice(None), slice(None), *window)]
        y[(slice(None), slice(None), *place)] = np.tensordot(
            seen, weight, axes=(range(1, x.ndim), range(1, x.ndim))
        )
    return y


def lstm_shapes(
    prefix: str, inputs: int, hidden: int, layers: int, *, bidirectional: bool
) -> dict[str, tuple[int, ...]]:
    """PyTorch's names and shapes."""
    directions = ["", "_reverse"] if bidirectional else [""]
    shapes: dict[str, tuple[int, ...]] = {}
    for layer in range(layers):
        size = inputs if layer == 0 else hidden * len(directions)
        for end in (f"_l{layer}{direction}" for direction in directions):
            shapes[f"{prefix}weight_ih{end}"] = (4 * hidden, size)
            shapes[f"{prefix}weight_hh{end}"] = (4 * hidden, hidden)
            shapes[f"{prefix}bias_ih{end}"] = (4 * hidden,)
            shapes[f"{prefix}bias_hh{end}"] = (4 * hidden,)
    return shapes


def lstm(x: Floats, w: Weights, prefix: str = "") -> Floats:
    """One sequence ``[length, inputs]`` through every layer that ``w`` has weights of."""
    layer = 0
    while f"{prefix}weight_ih_l{layer}" in w:
        both = [cells(x, w, f"{prefix}{{}}_l{layer}")]
        if f"{prefix}weight_ih_l{layer}_reverse" in w:
            both.append(cells(x[::-1], w, f"{prefix}{{}}_l{layer}_reverse")[::-1])
        x, layer = np.concatenate(both, axis=-1), layer + 1
    return x


def cells(x: Floats, w: Weights, name: str) -> Floats:
    """One layer in one direction. Source: the formulas of PyTorch's ``LSTM``."""
    hidden = w[name.format("weight_hh")].shape[1]
    h, c = np.zeros(hidden), np.zeros(hidden)
    states = []
    for x_t in x:
        gates = (
            w[name.format("weight_ih")] @ x_t.astype(np.float64)
            + w[name.format("bias_ih")]
            + w[name.format("weight_hh")] @ h
            + w[name.format("bias_hh")]
        )
        i, f, g, o = gates.reshape(4, hidden)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        states.append(h)
    return np.array(states).reshape(len(x), hidden)
