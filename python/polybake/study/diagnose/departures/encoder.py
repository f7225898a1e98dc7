"""Departures of the encoder: the other form of GELU, and other token types."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, helper, numpy_helper

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.way import Way

_TYPES = "token_type_embeddings"

#: GELU is x * (1 + f(x)) / 2, where f is erf(x / sqrt(2)) or tanh(sqrt(2 / pi) * (x + c * x**3)).
_CUBE = 0.044715


def departures(model: onnx.ModelProto) -> Iterator[Departure]:
    """Yield the departures of the encoder."""
    kinds = {node.op_type for nodes in _bodies(model) for node in nodes}
    if "Erf" in kinds:
        yield Departure("computes GELU by tanh", Way(graph=_by_tanh), leaves=4e-4)
    if any(_cubic(node, nodes) for nodes in _bodies(model) for node in nodes):
        yield Departure("computes GELU by erf", Way(graph=_by_erf), leaves=4e-4)
    shapes = [tuple(tensor.dims) for tensor in model.graph.initializer if _TYPES in tensor.name]
    tables = [shape for shape in shapes if len(shape) == 2]
    if any(shape[0] > 1 for shape in tables):
        change = partial(_types, lambda table: np.roll(table, -1, axis=0))
        yield Departure("gives all tokens the type 1", Way(graph=change), leaves=0.06)
    if tables:
        change = partial(_types, np.zeros_like)
        yield Departure("adds no embeddings of token types", Way(graph=change), leaves=0.7)


def _types(
    change: Callable[[NDArray[Any]], NDArray[Any]], model: onnx.ModelProto
) -> onnx.ModelProto:
    for tensor in model.graph.initializer:
        if _TYPES in tensor.name and len(tensor.dims) == 2:
            table = np.ascontiguousarray(change(numpy_helper.to_array(tensor)))
            tensor.CopyFrom(numpy_helper.from_array(table, tensor.name))
    return model


def _by_tanh(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace erf by tanh; the input of each Erf node is x / sqrt(2)."""
    scale, cube = 2 / math.sqrt(math.pi), 2 * _CUBE

    def inner(node: NodeProto) -> list[NodeProto]:
        x, name = node.input[0], node.output[0]
        return [
            _constant(f"{name}_one", 1),
            _constant(f"{name}_cube", cube),
            _constant(f"{name}_scale", scale),
            helper.make_node("Mul", [x, x], [f"{name}_square"]),
            helper.make_node("Mul", [f"{name}_square", f"{name}_cube"], [f"{name}_part"]),
            helper.make_node("Add", [f"{name}_part", f"{name}_one"], [f"{name}_sum"]),
            helper.make_node("Mul", [x, f"{name}_scale"], [f"{name}_x"]),
            helper.make_node("Mul", [f"{name}_x", f"{name}_sum"], [f"{name}_inner"]),
            helper.make_node("Tanh", [f"{name}_inner"], [name]),
        ]

    for nodes in _bodies(model):
        _replaced(nodes, lambda node, _: inner(node) if node.op_type == "Erf" else None)
    return model


def _by_erf(model: onnx.ModelProto) -> onnx.ModelProto:
    def outer(node: NodeProto, nodes: Any) -> list[NodeProto] | None:
        x, name = _cubic(node, nodes), node.output[0]
        if x is None:
            return None
        return [
            _constant(f"{name}_scale", 1 / math.sqrt(2)),
            helper.make_node("Mul", [x, f"{name}_scale"], [f"{name}_inner"]),
            helper.make_node("Erf", [f"{name}_inner"], [name]),
        ]

    for nodes in _bodies(model):
        _replaced(nodes, outer)
    return model


def _cubic(node: NodeProto, nodes: Any) -> str | None:
    """Return ``x`` if the node is the tanh of GELU, ``tanh(a * (x + b * x**3))``; else None."""
    if node.op_type != "Tanh":
        return None
    makers = {name: maker for maker in nodes for name in maker.output}
    product = makers.get(node.input[0])
    sums = [makers.get(name) for name in product.input] if product is not None else []
    for term in sums:
        if term is not None and term.op_type == "Add":
            for x in term.input:
                if sum(_reads(other, x, makers) for other in term.input if other != x):
                    return str(x)
    return None


def _reads(value: str, x: str, makers: dict[str, NodeProto]) -> bool:
    """Return whether a value is a product or a power of x, up to two products deep."""
    node = makers.get(value)
    if node is None or node.op_type not in ("Mul", "Pow"):
        return False
    return x in node.input or any(
        other is not None and other.op_type in ("Mul", "Pow") and x in other.input
        for other in (makers.get(name) for name in node.input)
    )


def _bodies(model: onnx.ModelProto) -> list[Any]:
    """Return the nodes of the graph, and those of each function."""
    return [model.graph.node, *(function.node for function in model.functions)]


def _replaced(nodes: Any, change: Callable[[NodeProto, Any], list[NodeProto] | None]) -> None:
    changes = [(node, change(node, nodes)) for node in nodes]
    body = [item for node, new in changes for item in ([node] if new is None else new)]
    copies = [NodeProto.FromString(item.SerializeToString()) for item in body]
    del nodes[:]
    nodes.extend(copies)


def _constant(name: str, value: float) -> NodeProto:
    return helper.make_node(
        "Constant", [], [name], value=numpy_helper.from_array(np.asarray(value, np.float32))
    )
