"""Compute a graph's matrix products in int8, the same for a text in every batch.

Weights are int8 with a scale for each column, rounded so that the products' results stay close.
Their inputs are uint8 with a range for each row, found inside the graph, so no row depends on
another. The output of a norm is first shifted and divided, input by input: ``x @ W`` is
``(x - center) / smooth @ (smooth * W) + center @ W``, whose rows have fewer outliers.
Sums are exact in int32, on every processor. All else stays in float32: norms, attention (one
operator), pooling, small layers. Tables are int8 with a scale for each row.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.graph.storage import drop_unused_weights
from polybake.baking.quantization.attention import fuse_attention
from polybake.baking.quantization.calibrated import calibrated
from polybake.baking.quantization.calibration import Floats, Statistics
from polybake.baking.quantization.ends import replace_product
from polybake.baking.quantization.in_file import in_file
from polybake.baking.quantization.nodes import MICROSOFT, Nodes
from polybake.baking.quantization.origin import after_gelu, after_norm
from polybake.baking.quantization.products import Group, Product
from polybake.baking.quantization.rounding import error_factor, round_weights, smoothing
from polybake.baking.quantization.rows import RoundedRows, round_gelu, round_symmetric
from polybake.baking.quantization.tables import quantize_tables
from polybake.base.modelfile.manifest import Contract


def quantize(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> None:
    """Make the products of ``model`` integers, in place."""
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
    # Not one product for all of a layer, which is then cut apart: that copies what it gives.
    columns = group.columns()
    parts = [in_file(integers[:, part], folder) for part in columns]
    moved = center @ weights
    for layer in group.layers:
        nodes, name, x = Nodes(graph, layer[0].node), layer[0].weight.name, layer[0].x
        if smoothed:
            x = nodes.op("Mul", x, nodes.constant(f"{name}.smooth", 1 / smooth))
            x = nodes.op("Sub", x, nodes.constant(f"{name}.center", center / smooth))
        rows = round_gelu(nodes, x) if after_gelu(x) else round_symmetric(nodes, x)
        for product, part, rounded in zip(layer, columns, parts, strict=True):
            nodes, shift = Nodes(graph, product.node), product.shift() + moved[part]
            _multiply(nodes, product, rows, rounded, scales[part], shift)


def _multiply(
    nodes: Nodes,
    product: Product,
    rows: RoundedRows,
    integers: NDArray[np.int8],
    scales: Floats,
    shift: Floats,
) -> None:
    """``(q - zero) @ W * scale / steps * range + shift``."""
    name = product.weight.name
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
    replace_product(nodes, product, nodes.op("Mul", y, rows.range), shift)
