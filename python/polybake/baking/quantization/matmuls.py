"""The matmuls of a graph whose right factor is a weight."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.quantization.nodes import Nodes

#: The least elements of a weight; a smaller weight gains nothing in int8.
_SMALLEST = 1 << 14


@dataclass(frozen=True)
class Matmul:
    """``x @ weight + bias``: a Gemm, or a MatMul with the Add behind it, if any.

    Attributes:
        end: Gives the sum.
    """

    node: ir.Node
    weight: ir.Value
    bias: ir.Value | None
    transposed: bool
    end: ir.Node

    @property
    def x(self) -> ir.Value:
        """The value that is multiplied by the weight: float32 ``[..., in]``."""
        x = self.node.inputs[0]
        assert x is not None  # noqa: S101 - an operator's first input
        return x

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of elements of a row of x, and of a row of the matmul."""
        rows, columns = self._tensor.shape.numpy()
        return (columns, rows) if self.transposed else (rows, columns)

    def matrix(self) -> NDArray[np.float32]:
        """The weight, ``[in, out]``, which is read anew each time."""
        array: NDArray[Any] = self._tensor.numpy()
        return np.ascontiguousarray(array.T if self.transposed else array)

    @property
    def _tensor(self) -> ir.TensorProtocol:
        tensor = self.weight.const_value
        assert tensor is not None  # noqa: S101 - `groups` looked
        return tensor

    def shift(self) -> NDArray[np.float32]:
        """Return the bias, ``[out]``; zeros without a bias."""
        tensor = None if self.bias is None else self.bias.const_value
        if tensor is None:
            return np.zeros(self.sizes[1], np.float32)
        array: NDArray[Any] = tensor.numpy()
        return array.reshape(-1)


@dataclass(frozen=True)
class Group:
    """Matmuls that share their input, and the matmuls of other layers with the same weights.

    Attributes:
        layers: The matmuls of each input; all have the same weights, in the same order.
    """

    layers: tuple[tuple[Matmul, ...], ...]

    @property
    def values(self) -> list[ir.Value]:
        """The input of each layer's matmuls."""
        return [layer[0].x for layer in self.layers]

    @property
    def inputs(self) -> int:
        """The number of elements of a row of the input."""
        return self.layers[0][0].sizes[0]

    def matrices(self) -> list[NDArray[np.float32]]:
        """The weights, each ``[in, out]``."""
        return [matmul.matrix() for matmul in self.layers[0]]

    def columns(self) -> list[slice]:
        """The columns of each weight, where all of a layer lie side by side."""
        sizes = [matmul.sizes[1] for matmul in self.layers[0]]
        return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def groups(graph: ir.Graph) -> list[Group]:
    """The matmuls of a graph that are large enough, in its order.

    A weight that different groups share in part is left out.
    """
    by_value: dict[ir.Value, list[Matmul]] = defaultdict(list)
    for node in graph:
        for matmul in _matmul(node):
            by_value[matmul.x].append(matmul)
    by_weights: dict[tuple[ir.Value, ...], list[tuple[Matmul, ...]]] = defaultdict(list)
    for layer in by_value.values():
        by_weights[tuple(matmul.weight for matmul in layer)].append(tuple(layer))
    shared = Counter(weight for weights in by_weights for weight in weights)
    return [
        Group(tuple(layers))
        for weights, layers in by_weights.items()
        if all(shared[weight] == 1 for weight in weights)
    ]


def _matmul(node: ir.Node) -> Iterator[Matmul]:
    if node.domain or node.op_type not in ("MatMul", "Gemm"):
        return
    weight = node.inputs[1]
    if weight is None or not is_weight(weight):
        return
    if node.op_type == "MatMul":
        bias, end = _bias_behind(node)
        yield Matmul(node, weight, bias, transposed=False, end=end)
    elif all(
        node.attributes.get_float(name, 1.0) == 1.0 for name in ("alpha", "beta")
    ) and not node.attributes.get_int("transA", 0):
        bias = node.inputs[2] if len(node.inputs) > 2 else None
        if bias is None or _is_vector(bias):
            transposed = bool(node.attributes.get_int("transB", 0))
            yield Matmul(node, weight, bias, transposed=transposed, end=node)


def _bias_behind(node: ir.Node) -> tuple[ir.Value | None, ir.Node]:
    """Return the bias that is added to the output of ``node``, and the node that adds it."""
    matmul = node.outputs[0]
    users = list(matmul.uses())
    if len(users) == 1 and not matmul.is_graph_output():
        (add, index), *_ = users
        bias = add.inputs[1 - index] if add.op_type == "Add" and not add.domain else None
        if bias is not None and _is_vector(bias):
            return bias, add
    return None, node


def _is_vector(value: ir.Value) -> bool:
    """Whether it is a constant float32 vector, perhaps with axes of 1 before it."""
    tensor = float32_constant(value)
    return tensor is not None and 1 < tensor.size == tensor.shape[-1]


def is_weight(value: ir.Value) -> bool:
    """Whether it is a float32 matrix that is worth another type."""
    tensor = float32_constant(value)
    return tensor is not None and len(tensor.shape) == 2 and tensor.size >= _SMALLEST


def float32_constant(value: ir.Value) -> ir.TensorProtocol | None:
    """The numbers of a float32 initializer; None of any other value."""
    tensor = value.const_value
    if not value.is_initializer() or tensor is None or tensor.dtype != ir.DataType.FLOAT:
        return None
    return tensor


#: How far above a matmul its GELU may begin: x * (1 + erf(x / sqrt(2))) / 2.
_GELU_DEPTH = 4

_NORMS = {"LayerNormalization", "RMSNormalization", "SimplifiedLayerNormalization"}


def after_norm(x: ir.Value) -> bool:
    """Return whether ``x`` is the output of a norm: an operator, or a vector's product or sum."""
    producer = x.producer()
    if producer is None or producer.op_type in _NORMS:
        return producer is not None
    vectors = [value for value in producer.inputs if value is not None and value.is_initializer()]
    return producer.op_type in ("Mul", "Add") and any(
        value.shape is not None and len(value.shape) == 1 for value in vectors
    )


def after_gelu(x: ir.Value) -> bool:
    """Return whether ``x`` is the output of a GELU: an operator, or its parts."""
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


def replace_matmul(nodes: Nodes, matmul: Matmul, y: ir.Value, shift: NDArray[np.float32]) -> None:
    """Put ``y + shift`` in the place of a matmul."""
    if shift.any():
        # Two axes prevent a fusion: ONNX Runtime's BiasGelu is slower than its parts.
        y = nodes.op("Add", y, nodes.constant(f"{matmul.end.name}.shift", shift[np.newaxis]))
    nodes.replace(matmul.end, y)
    if matmul.node is not matmul.end:
        nodes.drop(matmul.node)
