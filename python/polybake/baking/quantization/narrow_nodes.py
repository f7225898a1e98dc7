"""Choose the nodes of a graph that compute in float16.

Matmuls compute in float16 if a factor is a large weight, or if both factors come from such
matmuls, as in attention. So do operators that map or move numbers and read only the outputs of
such matmuls and constants. Operators that read a float32 number stay in float32: residual sums,
masks, rotary turns. So do operators that sum up or divide by sums, softmax and norms, for which
float16 has too few digits or too small a range. The steps are all in float32.
"""

from collections.abc import Iterator

import numpy as np
from onnxscript import ir

from polybake.baking.quantization.matmuls import float32_constant, is_weight

_PRODUCTS = {"MatMul", "Gemm"}

#: Operators that map each number, or each pair of numbers. No Sum: `graph.slow_fusions` writes
#: residual sums with it, and a sum of two matmuls (ALBERT's first) is float32, too.
_MAPPING = {
    "Add",
    "Div",
    "Erf",
    "Gelu",
    "HardSigmoid",
    "LeakyRelu",
    "Mul",
    "Neg",
    "Relu",
    "Sigmoid",
    "Sub",
    "Swish",
    "Tanh",
}

#: Operators that move the numbers of the first input, as the other inputs say.
MOVING = {
    "Expand",
    "Flatten",
    "Identity",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
}

#: The prefix of the namespaces of steps in `polybake.baking.assemble.fold`.
_STEPS = "steps."

_LIMITS = np.finfo(np.float16)


class NarrowNodes:
    """The nodes of a graph and of its branches that compute in float16.

    Attributes:
        nodes: The nodes, in order.
        values: The outputs of the nodes.
    """

    def __init__(self, graph: ir.Graph) -> None:
        self.nodes: dict[ir.Node, None] = {}
        self.values: set[ir.Value] = set()
        self._derived: set[ir.Value] = set()
        self._visit(graph)

    def _visit(self, graph: ir.Graph) -> None:
        for node in graph:
            for branch in branches(node):
                self._visit(branch)
            if self._is_narrow(node):
                self.nodes[node] = None
                self.values.update(node.outputs)
            ends = [value for branch in branches(node) for value in branch.outputs]
            if node in self.nodes or any(value in self._derived for value in (*node.inputs, *ends)):
                self._derived.update(node.outputs)

    def _is_narrow(self, node: ir.Node) -> bool:
        if node.domain or node.metadata_props.get("namespace", "").startswith(_STEPS):
            return False
        if node.op_type in _PRODUCTS:
            return self._is_large(node)
        data = [value for value in numbers(node) if value is not None]
        if not any(value in self.values for value in data):
            return False
        if node.op_type == "Mul" and data[0] is data[1]:
            return False  # a square leaves float16's range first: of a norm, or of GELU's cube
        return node.op_type in _MAPPING | MOVING and all(
            value in self.values or _fits(value) for value in data
        )

    def _is_large(self, node: ir.Node) -> bool:
        left, right = node.inputs[:2]
        if left is None or right is None:
            return False
        return is_weight(right) or (left in self._derived and right in self._derived)


def branches(node: ir.Node) -> Iterator[ir.Graph]:
    """The graphs within a node."""
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def numbers(node: ir.Node) -> tuple[ir.Value | None, ...]:
    """Return the inputs that a narrow node takes in float16: all that hold numbers to compute."""
    return tuple(node.inputs[:1] if node.op_type in MOVING else node.inputs)


def _fits(value: ir.Value) -> bool:
    """Whether it is a constant that float16 neither loses nor takes for 0."""
    tensor = float32_constant(value)
    if tensor is None:
        return False
    sizes = np.abs(tensor.numpy())
    return not sizes.any() or bool(_LIMITS.smallest_normal <= sizes.max() <= _LIMITS.max)
