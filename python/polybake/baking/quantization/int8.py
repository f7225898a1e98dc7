"""Compute a graph's matrix products in int8, the same for a text in every batch.

Weights are int8 with a scale for each column, rounded so that the products' results stay close.
Their inputs are uint8 with a range for each row, found inside the graph, so no row depends on
another. The output of a norm is first shifted and divided, input by input: ``x @ W`` is
``(x - center) / smooth @ (smooth * W) + center @ W``, whose rows have fewer outliers.
Sums are exact in int32, on every processor. All else stays in float32: norms, softmax, attention
between tokens, pooling, small layers. Tables are int8 with a scale for each row.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.graph.storage import drop_unused_weights
from polybake.baking.quantization.calibration import Calibration, Floats, Statistics
from polybake.baking.quantization.in_file import in_file
from polybake.baking.quantization.nodes import Nodes
from polybake.baking.quantization.products import Group, Product, groups, is_weight
from polybake.baking.quantization.rounding import error_factor, round_rows, round_weights, smoothing
from polybake.baking.quantization.rows import RoundedRows, round_gelu, round_symmetric
from polybake.base.modelfile.manifest import Contract

#: Bytes of the statistics that are held at a time; each window runs all texts.
_HELD = 2 << 30

#: How far above a product its GELU may begin: x * (1 + erf(x / sqrt(2))) / 2.
_GELU_DEPTH = 4

_NORMS = {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"}


def quantize(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> int:
    """Make the products of ``model`` integers, in place.

    Args:
        model: A float32 graph whose weights are not stored narrow.
        contract: The contract, with the inputs.
        rows: Token ids of texts; their activations say how inputs are smoothed and weights rounded.
        folder: A folder for a copy of the graph, and for the integers until that is written.

    Returns:
        The number of products that are integers now.
    """
    found = groups(model.graph)
    calibration = Calibration.of(
        model, [value for group in found for value in group.values], contract, rows, folder
    )
    for window in _windows(found):
        for group, statistics in zip(window, calibration.statistics(window), strict=True):
            _quantize_group(model.graph, group, statistics, folder)
    _quantize_tables(model.graph, folder)
    drop_unused_weights(model.graph)
    return sum(len(layer) for group in found for layer in group.layers)


def int8_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `quantize` saves of ``model``."""
    found = {one.weight for group in groups(model.graph) for one in group.layers[0]}
    found |= {table for node in model.graph if (table := _table(node)) is not None}
    return sum(3 * weight.const_value.nbytes // 4 for weight in found if weight.const_value)


def _windows(found: Sequence[Group]) -> Iterator[list[Group]]:
    """The groups whose statistics are held at a time."""
    window: list[Group] = []
    held = 0
    for group in found:
        size = 4 * group.inputs**2
        if window and held + size > _HELD:
            yield window
            window, held = [], 0
        window.append(group)
        held += size
    if window:
        yield window


def _quantize_group(graph: ir.Graph, group: Group, statistics: Statistics, folder: Path) -> None:
    """Round the input of each layer once, and the weights once for all layers."""
    weights = np.concatenate(group.matrices(), axis=1)
    center: Floats = np.zeros(group.inputs, np.float32)
    smooth: Floats = np.ones(group.inputs, np.float32)
    after_norm = _after_norm(group.values[0])
    if after_norm:
        center = statistics.center
        smooth = smoothing(statistics.largest - center, weights)
    moments = statistics.moments(center) / np.outer(smooth, smooth)
    integers, scales = round_weights(weights * smooth[:, np.newaxis], error_factor(moments))
    integers = in_file(integers, folder)
    for layer in group.layers:
        nodes, name, x = Nodes(graph, layer[0].node), layer[0].weight.name, layer[0].x
        shift = np.concatenate([product.shift() for product in layer])
        if after_norm:
            x = nodes.op("Mul", x, nodes.constant(f"{name}.smooth", 1 / smooth))
            x = nodes.op("Sub", x, nodes.constant(f"{name}.center", center / smooth))
            shift = shift + center @ weights
        rows = round_gelu(nodes, x) if _after_gelu(x) else round_symmetric(nodes, x)
        _multiply(nodes, layer, rows, integers, scales, shift)


def _multiply(
    nodes: Nodes,
    layer: Sequence[Product],
    rows: RoundedRows,
    integers: NDArray[np.int8],
    scales: Floats,
    shift: Floats,
) -> None:
    """``(q - zero) @ W * range * scale / steps + shift``, of all products of a layer at once."""
    name, end = layer[0].weight.name, layer[0].end.name
    sums = nodes.op("MatMulInteger", rows.integers, nodes.constant(f"{name}", integers), rows.zero)
    # Not both scales first: ONNX Runtime 1.31 would take their product for the scale of a tensor.
    y = nodes.op("Mul", nodes.op("Cast", sums, to=ir.DataType.FLOAT), rows.range)
    y = nodes.op("Mul", y, nodes.constant(f"{name}.scale", scales / np.float32(rows.steps)))
    if shift.any():
        # Two axes prevent a fusion: ONNX Runtime's BiasGelu is slower than its parts.
        y = nodes.op("Add", y, nodes.constant(f"{end}.shift", shift[np.newaxis]))
    sizes = [product.sizes[1] for product in layer]
    parts = nodes.split(y, sizes, f"{name}.sizes") if len(layer) > 1 else [y]
    for product, part in zip(layer, parts, strict=True):
        nodes.replace(product.end, part)
        if product.node is not product.end:
            nodes.drop(product.node)


def _quantize_tables(graph: ir.Graph, folder: Path) -> None:
    for node in list(graph):
        table = _table(node)
        if table is None or table.const_value is None:
            continue
        nodes = Nodes(graph, node)
        integers, scales = round_rows(table.const_value.numpy())
        integers = in_file(integers, folder)
        places = node.inputs[1]
        found = nodes.op("Gather", nodes.constant(f"{table.name}", integers), places)
        scale = nodes.op("Gather", nodes.constant(f"{table.name}.scale", scales), places)
        wide = nodes.op("Cast", found, to=ir.DataType.FLOAT)
        nodes.replace(node, nodes.op("Mul", wide, scale))


def _table(node: ir.Node) -> ir.Value | None:
    """Return the table that a node looks rows up in, if it is large enough."""
    if node.op_type != "Gather" or node.attributes.get_int("axis", 0) != 0:
        return None
    table = node.inputs[0]
    return table if table is not None and is_weight(table) else None


def _after_norm(x: ir.Value) -> bool:
    """Return whether ``x`` is the output of a norm: an operator, or a vector's product or sum."""
    producer = x.producer()
    if producer is None or producer.op_type in _NORMS:
        return producer is not None
    vectors = [value for value in producer.inputs if value is not None and value.is_initializer()]
    return producer.op_type in ("Mul", "Add") and any(
        value.shape is not None and len(value.shape) == 1 for value in vectors
    )


def _after_gelu(x: ir.Value) -> bool:
    values = [x]
    for _ in range(_GELU_DEPTH):
        makers = [maker for value in values if (maker := value.producer()) is not None]
        if any(maker.op_type in ("Erf", "Gelu") for maker in makers):
            return True
        values = [
            value
            for maker in makers
            if maker.op_type in ("Mul", "Add")
            for value in maker.inputs
            if value is not None and not value.is_initializer()
        ]
    return False
