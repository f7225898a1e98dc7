"""Compute a graph's matrix products in int8, the same for a text in every batch.

Weights are int8 with a scale for each column, rounded so that what they give stays close; what they
multiply is uint8 with a range for each row, found inside the graph, so no row depends on another.
Sums are exact in int32, on every processor. All else stays in float32: norms, softmax, attention
between tokens, pooling, small layers. Tables are int8 with a scale for each row.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.modelfile.manifest import Contract
from polybake.quantization.calibration import Calibration, Floats
from polybake.quantization.nodes import Nodes
from polybake.quantization.products import Group, Product, groups, is_weight
from polybake.quantization.rounding import error_factor, round_rows, round_weights, smoothing
from polybake.quantization.rows import Rows, round_by_range, round_gelu

#: Bytes of what products multiply that are held at a time; each window runs all texts.
_HELD = 1 << 30

#: How far above a product its GELU may begin: x * (1 + erf(x / sqrt(2))) / 2.
_GELU_DEPTH = 4

_NORMS = {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"}


def quantize(
    model: ir.Model, contract: Contract, rows: Sequence[Sequence[int]], folder: Path
) -> int:
    """Make the products of ``model`` integers, in place.

    Args:
        model: In float32, its weights not stored narrow.
        contract: Says what to feed.
        rows: Token ids of the texts that the scales are chosen by.
        folder: For a copy of the graph.

    Returns:
        How many products are integers now.
    """
    found = groups(model.graph)
    calibration = Calibration.of(
        model, [value for group in found for value in group.values], contract, rows, folder
    )
    for window in _windows(found, sum(map(len, rows))):
        for group, inputs in zip(window, calibration.inputs(window), strict=True):
            _quantize_group(model.graph, group, inputs)
    _quantize_tables(model.graph)
    for weight in list(model.graph.initializers.values()):
        if not weight.uses() and not weight.is_graph_output():
            model.graph.initializers.pop(str(weight.name))
    return sum(len(layer) for group in found for layer in group.layers)


def int8_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `quantize` saves of ``model``."""
    found = {one.weight for group in groups(model.graph) for one in group.layers[0]}
    found |= {table for node in model.graph if (table := _table(node)) is not None}
    return sum(3 * weight.const_value.nbytes // 4 for weight in found if weight.const_value)


def _windows(found: Sequence[Group], tokens: int) -> Iterator[list[Group]]:
    """The groups whose inputs are held at a time."""
    window: list[Group] = []
    held = 0
    for group in found:
        size = 4 * tokens * len(group.layers) * group.inputs
        if window and held + size > _HELD:
            yield window
            window, held = [], 0
        window.append(group)
        held += size
    yield window


def _quantize_group(graph: ir.Graph, group: Group, inputs: Floats) -> None:
    """Round what each layer multiplies once, and the weights once for all layers."""
    weights = group.matrices()
    smooth = None
    if _after_norm(group.values[0]):
        smooth = smoothing(inputs, weights)
        weights = [weight * smooth[:, np.newaxis] for weight in weights]
        inputs = inputs / smooth
    integers, scales = round_weights(np.concatenate(weights, axis=1), error_factor(inputs))
    sizes = [weight.shape[1] for weight in weights]
    for layer in group.layers:
        rows = _rounded(Nodes(graph, layer[0].node), layer[0], smooth)
        _multiply(graph, layer, rows, integers, scales, sizes)


def _rounded(nodes: Nodes, product: Product, smooth: Floats | None) -> Rows:
    """What a layer's products multiply, as integers."""
    if _after_gelu(product.x):
        return round_gelu(nodes, product.x)
    if smooth is None:
        return round_by_range(nodes, product.x)
    divisor = nodes.constant(f"{product.weight.name}.smooth", 1 / smooth)
    return round_by_range(nodes, nodes.op("Mul", product.x, divisor))


def _multiply(
    graph: ir.Graph,
    layer: Sequence[Product],
    rows: Rows,
    integers: NDArray[np.int8],
    scales: Floats,
    sizes: Sequence[int],
) -> None:
    """``(q - zero) @ W * range * scale / steps + lowest * sum(W) * scale``, of all at once."""
    nodes, name = Nodes(graph, layer[0].node), layer[0].weight.name
    sums = nodes.op("MatMulInteger", rows.integers, nodes.constant(f"{name}", integers), rows.zero)
    # Not the two scales first: ONNX Runtime 1.31 takes the product of both for that of a tensor's.
    ranged = nodes.op("Mul", nodes.op("Cast", sums, to=ir.DataType.FLOAT), rows.range)
    y = nodes.op("Mul", ranged, nodes.constant(f"{name}.scale", scales / np.float32(rows.steps)))
    if rows.lowest is not None:
        total = integers.sum(axis=0, dtype=np.int64) * scales
        column = nodes.constant(f"{name}.sum", total.astype(np.float32))
        y = nodes.op("Add", y, nodes.op("Mul", rows.lowest, column))
    parts = nodes.split(y, sizes, f"{name}.sizes") if len(layer) > 1 else [y]
    for product, part in zip(layer, parts, strict=True):
        place = Nodes(graph, product.node)
        biased = part if product.bias is None else place.op("Add", part, product.bias)
        place.replace(product.node.outputs[0], biased)


def _quantize_tables(graph: ir.Graph) -> None:
    for node in list(graph):
        table = _table(node)
        if table is None or table.const_value is None:
            continue
        nodes = Nodes(graph, node)
        integers, scales = round_rows(table.const_value.numpy())
        places = node.inputs[1]
        found = nodes.op("Gather", nodes.constant(f"{table.name}", integers), places)
        scale = nodes.op("Gather", nodes.constant(f"{table.name}.scale", scales), places)
        wide = nodes.op("Cast", found, to=ir.DataType.FLOAT)
        nodes.replace(node.outputs[0], nodes.op("Mul", wide, scale))


def _table(node: ir.Node) -> ir.Value | None:
    """The table that a node looks rows up in, where it is large enough."""
    if node.op_type != "Gather" or node.attributes.get_int("axis", 0) != 0:
        return None
    table = node.inputs[0]
    return table if table is not None and is_weight(table) else None


def _after_norm(x: ir.Value) -> bool:
    """Whether a norm gives ``x``: one operator, or a product with or a sum of a vector."""
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
