"""Compute a graph's matmuls in int8, the same for a text in every batch.

Weights are int8 with a scale for each column, rounded so that the matmuls' results stay close.
Their inputs are uint8 with a range for each row, found inside the graph, so no row depends on
another. The output of a norm is first shifted and divided, input by input: ``x @ W`` is
``(x - center) / smooth @ (smooth * W) + center @ W``, whose rows have fewer outliers.
Sums are exact in int32, on every processor. All else stays in float32: norms, attention (one
operator), pooling, small layers. Tables are int8 with a scale for each row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.graph.storage import drop_unused_weights
from polybake.baking.quantization.attention import fuse_attention
from polybake.baking.quantization.calibration import Statistics, calibrated
from polybake.baking.quantization.embedding_tables import quantize_tables
from polybake.baking.quantization.matmuls import (
    Group,
    Matmul,
    after_gelu,
    after_norm,
    replace_matmul,
)
from polybake.baking.quantization.nodes import MICROSOFT, Nodes, in_file
from polybake.baking.quantization.rounding import Floats, error_factor, round_weights, smoothing
from polybake.base.modelfile.manifest import Contract

#: The steps on either side of a symmetric range's zero.
_STEPS = 127

#: GELU is at least -0.17, at -0.75. So its zero point can be fixed, at a sixth of the range.
_GELU_LOWEST = 0.17
_GELU_ZERO = 40
_GELU_STEPS = 255 - _GELU_ZERO

#: The least range of a row; in a smaller range all values count as 0.
_LEAST_RANGE = 1e-20


@dataclass(frozen=True)
class RoundedRows:
    """``x`` is close to ``(integers - zero) * range / steps``.

    Attributes:
        integers: uint8, the shape of x.
        zero: uint8, a constant of the graph.
        range: float32 ``[..., 1]``.
        steps: How many make up the range.
    """

    integers: ir.Value
    zero: ir.Value
    range: ir.Value
    steps: int


def round_symmetric(nodes: Nodes, x: ir.Value) -> RoundedRows:
    """Round to a range that is symmetric around 0, up to the largest element of each row."""
    return _round(nodes, x, nodes.op("Abs", x), _LEAST_RANGE, _STEPS, zero=_STEPS + 1)


def round_gelu(nodes: Nodes, x: ir.Value) -> RoundedRows:
    """Round GELU's output to the range from its minimum to the largest element of each row."""
    least = _GELU_LOWEST / _GELU_ZERO * _GELU_STEPS
    return _round(nodes, x, x, least, _GELU_STEPS, zero=_GELU_ZERO)


def _round(
    nodes: Nodes, x: ir.Value, sizes: ir.Value, least: float, steps: int, zero: int
) -> RoundedRows:
    largest = nodes.op("Max", nodes.largest_of_rows(sizes), nodes.number(least))
    origin = nodes.constant(f"zero.{zero}", np.array(zero, np.uint8))
    parts = nodes.op("Div", x, largest)
    integers = nodes.op("QuantizeLinear", parts, nodes.number(1 / steps), origin)
    return RoundedRows(integers, origin, largest, steps)


def quantize(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> None:
    """Make the matmuls of ``model`` integers, in place."""
    fuse_attention(model)
    for group, statistics in calibrated(model, contract, rows, folder):
        _quantize_group(model.graph, group, statistics, folder)
    quantize_tables(model.graph, folder)
    drop_unused_weights(model.graph)


def _quantize_group(graph: ir.Graph, group: Group, statistics: Statistics, folder: Path) -> None:
    """Round the input of each layer once, and the weights once for all layers."""
    weights = np.concatenate(group.matrices(), axis=1)
    center: Floats = np.zeros(group.inputs, np.float32)
    smooth: Floats = np.ones(group.inputs, np.float32)
    smoothed = after_norm(group.values[0])
    if smoothed:
        center = statistics.center
        smooth = smoothing(statistics.largest - center, weights)
    moments = statistics.moments(center) / np.outer(smooth, smooth)
    integers, scales = round_weights(weights * smooth[:, np.newaxis], error_factor(moments))
    # Not one matmul for all of a layer, which is then cut apart: that copies what it gives.
    columns = group.columns()
    parts = [in_file(integers[:, part], folder) for part in columns]
    shifts = center @ weights
    for layer in group.layers:
        nodes, name, x = Nodes(graph, layer[0].node), layer[0].weight.name, layer[0].x
        if smoothed:
            x = nodes.op("Mul", x, nodes.constant(f"{name}.smooth", 1 / smooth))
            x = nodes.op("Sub", x, nodes.constant(f"{name}.center", center / smooth))
        rows = round_gelu(nodes, x) if after_gelu(x) else round_symmetric(nodes, x)
        for matmul, part, rounded in zip(layer, columns, parts, strict=True):
            nodes, shift = Nodes(graph, matmul.node), matmul.shift() + shifts[part]
            _multiply(nodes, matmul, rows, rounded, scales[part], shift)


def _multiply(
    nodes: Nodes,
    matmul: Matmul,
    rows: RoundedRows,
    integers: NDArray[np.int8],
    scales: Floats,
    shift: Floats,
) -> None:
    """``(q - zero) @ W * scale / steps * range + shift``."""
    name = matmul.weight.name
    y = nodes.op(
        "MatMulIntegerToFloat",
        rows.integers,
        nodes.constant(f"{name}", integers),
        nodes.number(1),
        nodes.constant(f"{name}.scale", scales / np.float32(rows.steps)),
        rows.zero,
        domain=MICROSOFT,
    )
    # It takes a number as the scale of its rows, and each row has its own.
    replace_matmul(nodes, matmul, nodes.op("Mul", y, rows.range), shift)
