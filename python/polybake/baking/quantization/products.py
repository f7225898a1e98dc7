"""The matrix products of a graph whose right factor is a weight."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir

#: The least elements of a weight; a smaller weight gains nothing in int8.
_SMALLEST = 1 << 14


@dataclass(frozen=True)
class Product:
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
        """The number of elements of a row of x, and of a row of the product."""
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
    """Products that share their input, and the products of other layers with the same weights.

    Attributes:
        layers: The products of each input; all have the same weights, in the same order.
    """

    layers: tuple[tuple[Product, ...], ...]

    @property
    def values(self) -> list[ir.Value]:
        """The input of each layer's products."""
        return [layer[0].x for layer in self.layers]

    @property
    def inputs(self) -> int:
        """The number of elements of a row of the input."""
        return self.layers[0][0].sizes[0]

    def matrices(self) -> list[NDArray[np.float32]]:
        """The weights, each ``[in, out]``."""
        return [product.matrix() for product in self.layers[0]]

    def columns(self) -> list[slice]:
        """The columns of each weight, where all of a layer lie side by side."""
        sizes = [product.sizes[1] for product in self.layers[0]]
        return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def groups(graph: ir.Graph) -> list[Group]:
    """The products of a graph that are large enough, in its order.

    A weight that different groups share in part is left out.
    """
    by_value: dict[ir.Value, list[Product]] = defaultdict(list)
    for node in graph:
        for product in _product(node):
            by_value[product.x].append(product)
    by_weights: dict[tuple[ir.Value, ...], list[tuple[Product, ...]]] = defaultdict(list)
    for layer in by_value.values():
        by_weights[tuple(product.weight for product in layer)].append(tuple(layer))
    shared = Counter(weight for weights in by_weights for weight in weights)
    return [
        Group(tuple(layers))
        for weights, layers in by_weights.items()
        if all(shared[weight] == 1 for weight in weights)
    ]


def _product(node: ir.Node) -> Iterator[Product]:
    if node.domain or node.op_type not in ("MatMul", "Gemm"):
        return
    weight = node.inputs[1]
    if weight is None or not is_weight(weight):
        return
    if node.op_type == "MatMul":
        bias, end = _bias_behind(node)
        yield Product(node, weight, bias, transposed=False, end=end)
    elif all(
        node.attributes.get_float(name, 1.0) == 1.0 for name in ("alpha", "beta")
    ) and not node.attributes.get_int("transA", 0):
        bias = node.inputs[2] if len(node.inputs) > 2 else None
        if bias is None or _is_vector(bias):
            transposed = bool(node.attributes.get_int("transB", 0))
            yield Product(node, weight, bias, transposed=transposed, end=node)


def _bias_behind(node: ir.Node) -> tuple[ir.Value | None, ir.Node]:
    """Return the bias that is added to the output of ``node``, and the node that adds it."""
    product = node.outputs[0]
    users = list(product.uses())
    if len(users) == 1 and not product.is_graph_output():
        (add, place), *_ = users
        bias = add.inputs[1 - place] if add.op_type == "Add" and not add.domain else None
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
