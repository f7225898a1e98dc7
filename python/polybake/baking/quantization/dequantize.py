"""Rebuild a dynamically quantized graph, with one range per batch, in float32.

`onnxruntime.quantization.quantize_dynamic` writes such graphs, also for Optimum,
sentence-transformers and transformers.js: integers stand for ``(integers - zero) * scale``. Each
product is rebuilt with those numbers: the input of DynamicQuantizeLinear is taken unrounded, and
weights and tables are widened once. ONNX Runtime's optimizer may have fused parts of such graphs
into two operators.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx_ir.passes.common import RemoveUnusedNodesPass
from onnxscript import ir

from polybake.baking.quantization.nodes import Nodes

#: Operators that find one range for a whole batch.
_DYNAMIC = {"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}

#: Operators that move numbers without changing them.
_MOVING = {"Gather", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"}

#: The suffix that quantize_dynamic appends to a weight's name.
_SUFFIX = "_quantized"


@dataclass(frozen=True)
class Rebuilt:
    """The numbers of matrix products and of lookup tables that were rebuilt in float32."""

    products: int
    tables: int


def dynamic_nodes(model: ir.Model) -> Iterator[ir.Node]:
    """Yield the nodes with one range per batch, in functions and branches, too."""
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    for graph in graphs:
        for node in graph.all_nodes():
            if node.op_type in _DYNAMIC:
                yield node


def dequantize(model: ir.Model) -> Rebuilt:
    """Rebuild the dynamically quantized products of ``model`` and its tables, in place.

    Raises:
        ValueError: something that was quantized dynamically is used in a way that is not known.
    """
    rebuilding = _Rebuilding(model.graph)
    for node in list(model.graph):
        rebuilding.visit(node)
    RemoveUnusedNodesPass()(model)
    for node in dynamic_nodes(model):
        users = [user for user, _ in node.outputs[0].uses()]
        shown = users[0] if node.op_type == "DynamicQuantizeLinear" and users else node
        raise ValueError(
            f"node {shown.name!r} ({shown.op_type}) computes with integers in a way that is not "
            "known; give the float32 file, or quantize an export that nothing has optimized"
        )
    return Rebuilt(rebuilding.products, rebuilding.tables)


class _Rebuilding:
    """Adds float32 nodes beside nodes that compute with integers, which become unused."""

    def __init__(self, graph: ir.Graph) -> None:
        self._graph = graph
        self._weights: dict[tuple[ir.Value | None, ...], ir.Value] = {}
        self.products = 0
        self.tables = 0

    def visit(self, node: ir.Node) -> None:
        """Rebuild the product or table that ends in ``node``, if any."""
        match node.op_type:
            case "Mul":
                self._scaled(node)
            case "DequantizeLinear":
                self._looked_up(node)
            case "MatMulIntegerToFloat":
                a, b, a_scale, b_scale, a_zero, b_zero, bias = _filled(node, 7)
                self._product(node, (a, a_scale, a_zero), (b, b_scale, b_zero), bias)
            case "DynamicQuantizeMatMul":
                a, b, b_scale, b_zero, bias = _filled(node, 5)
                weight = self._real(node, b, b_scale, b_zero, axis=-1)
                self._multiply(node, a, weight, bias)

    def _scaled(self, node: ir.Node) -> None:
        """``Cast(MatMulInteger(a, b)) * (a_scale * b_scale)``."""
        for sums, scale in (node.inputs, node.inputs[::-1]):
            integer, scales = _made_by(_made_by(sums, "Cast"), "MatMulInteger"), scale
            scaling = _made_by(scales, "Mul")
            if integer is None or scaling is None:
                continue
            a, b, a_zero, b_zero = _filled(integer, 4)
            for a_scale, b_scale in (scaling.inputs, scaling.inputs[::-1]):
                if self._product(node, (a, a_scale, a_zero), (b, b_scale, b_zero)):
                    return

    def _product(
        self,
        node: ir.Node,
        left: tuple[ir.Value | None, ...],
        right: tuple[ir.Value | None, ...],
        bias: ir.Value | None = None,
    ) -> bool:
        """Put the product of two values, each ``integers, scale, zero``, in a node's place."""
        a = self._real(node, *left, axis=None)
        b = self._real(node, *right, axis=-1)
        return self._multiply(node, a, b, bias)

    def _multiply(
        self, node: ir.Node, a: ir.Value | None, b: ir.Value | None, bias: ir.Value | None
    ) -> bool:
        if a is None or b is None:
            return False
        nodes = Nodes(self._graph, node, "float32")
        y = nodes.op("MatMul", a, b)
        nodes.replace(node, y if bias is None else nodes.op("Add", y, bias))
        self.products += 1
        return True

    def _looked_up(self, node: ir.Node) -> None:
        """``DequantizeLinear(Gather(table, places))``, or of the weight itself."""
        integers, scale, zero = _filled(node, 3)
        axis = node.attributes.get_int("axis", 1)
        known = len(self._weights)
        found = self._real(node, integers, scale, zero, axis=axis)
        if found is None:
            return
        self.tables += len(self._weights) - known
        node.outputs[0].replace_all_uses_with(found, replace_graph_outputs=True)

    def _real(
        self,
        place: ir.Node,
        integers: ir.Value | None,
        scale: ir.Value | None,
        zero: ir.Value | None,
        *,
        axis: int | None,
    ) -> ir.Value | None:
        """Return the float32 value that integers stand for; None if it is unknown.

        Args:
            place: The node before which nodes are added.
            axis: The axis of the integers that several scales belong to; None allows only a
                single scale.
        """
        if integers is None or scale is None:
            return None
        if integers.is_initializer():
            return self._weight(integers, scale, zero, axis)
        producer = integers.producer()
        if producer is None:
            return None
        if producer.op_type == "DynamicQuantizeLinear":
            return producer.inputs[0] if (scale, zero) == (*producer.outputs[1:],) else None
        if producer.op_type not in _MOVING:
            return None
        moved = self._real(place, producer.inputs[0], scale, zero, axis=None)
        if moved is None:
            return None
        attributes = producer.attributes.values()
        copy = ir.node(
            producer.op_type, [moved, *producer.inputs[1:]], name=f"{producer.name}_real"
        )
        copy.attributes.update({attribute.name: attribute for attribute in attributes})
        copy.outputs[0].shape, copy.outputs[0].dtype = integers.shape, ir.DataType.FLOAT
        self._graph.insert_before(place, copy)
        return copy.outputs[0]

    def _weight(
        self, integers: ir.Value, scale: ir.Value, zero: ir.Value | None, axis: int | None
    ) -> ir.Value | None:
        """Return an initializer ``(integers - zero) * scale``, shared by all its users."""
        key = (integers, scale, zero)
        if key in self._weights:
            return self._weights[key]
        tensor = integers.const_value
        scales, zeros = (_numbers(value, tensor, axis) for value in (scale, zero))
        if tensor is None or scales is None or (zero is not None and zeros is None):
            return None
        shift = 0 if zeros is None else zeros.astype(np.int32)

        def widened() -> ir.TensorProtocol:
            whole = tensor.numpy().astype(np.int32) - shift
            return ir.tensor(whole.astype(np.float32) * scales.astype(np.float32))

        taken = self._graph.initializers
        name = str(integers.name).removesuffix(_SUFFIX)
        name = f"{name}.float32" if name in taken else name
        shape = ir.Shape(tensor.shape.numpy())
        weight = ir.Value(
            name=name,
            shape=shape,
            type=ir.TensorType(ir.DataType.FLOAT),
            const_value=ir.LazyTensor(widened, ir.DataType.FLOAT, shape, name=name),
        )
        taken.add(weight)
        self._weights[key] = weight
        return weight


def _numbers(
    value: ir.Value | None, tensor: ir.TensorProtocol | None, axis: int | None
) -> NDArray[Any] | None:
    """Return scales or zeros, reshaped to their axis of ``tensor``; None if they do not fit."""
    if value is None or not value.is_initializer() or value.const_value is None or tensor is None:
        return None
    array = value.const_value.numpy()
    shape = tensor.shape.numpy()
    if array.size == 1:
        return array.reshape(())
    if axis is None or not -len(shape) <= axis < len(shape):
        return None
    if not array.size == array.shape[-1] == shape[axis]:
        return None
    return array.reshape([-1 if place == axis % len(shape) else 1 for place in range(len(shape))])


def _filled(node: ir.Node, count: int) -> list[ir.Value | None]:
    """Return the first ``count`` inputs of a node; None for omitted inputs."""
    return [*node.inputs, *[None] * count][:count]


def _made_by(value: ir.Node | ir.Value | None, kind: str) -> ir.Node | None:
    """The node of this kind that gives a value, or a node's first input."""
    if isinstance(value, ir.Node):
        value = value.inputs[0]
    node = None if value is None else value.producer()
    return node if node is not None and node.op_type == kind else None
