"""Find the modules of two graphs that differ in their weights or in their operators."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx

from polybake.baking.graph.nodes import every_node
from polybake.baking.graph.skeleton import read_skeleton
from polybake.baking.graph.weights import stored_weights
from polybake.study.diff.module_change import ModuleChange
from polybake.study.diff.weights import INTEGERS, compare_weights

#: An initializer of up to this many elements is a literal of the code, such as axes, no weight.
_LITERAL = 8

#: An initializer of up to this many bytes is read with the graph; a literal has fewer.
_SMALL = 1 << 16


def compare_graphs(before: Path, after: Path) -> tuple[ModuleChange, ...]:
    """Return the modules that differ between two intact model files, in the graphs' order.

    The names of values are ignored, as they number the nodes of the whole graph; so graphs that
    only join equal operators in another way show no difference. Weights are compared one by one.
    """
    changes: dict[str, ModuleChange] = {}
    graphs = [read_skeleton(path, _SMALL) for path in (before, after)]
    operators = [_operators(graph) for graph in graphs]
    for module in dict.fromkeys([*operators[0], *operators[1]]):
        first, second = operators[0][module], operators[1][module]
        change = changes[module] = ModuleChange(module)
        change.nodes_removed = _named(first - second)
        change.nodes_added = _named(second - first)
    with stored_weights(before) as old, stored_weights(after) as new:
        names, others = (
            [name for name in weights if name not in literals]
            for weights, literals in zip((old, new), map(_literals, graphs), strict=True)
        )
        for name in names:
            _of(name, changes).equal += 1
        for weight in compare_weights(old, new, names, others):
            change = _of(weight.name, changes)
            change.weights.append(weight)
            change.equal -= weight.kind != "new"
    return tuple(change for change in changes.values() if change.differs)


def _of(name: str, changes: dict[str, ModuleChange]) -> ModuleChange:
    """Return the change of the module that a weight belongs to."""
    return changes.setdefault(_module(name), ModuleChange(_module(name)))


def _operators(model: onnx.ModelProto) -> defaultdict[str, Counter[tuple[str, str]]]:
    """Count the operators of each module, by their attributes, literals and weights."""
    counts: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    literals = _literals(model)
    weights = {tensor.name for tensor in model.graph.initializer} - literals.keys()
    for node in every_node(model):
        inputs = (literals.get(name, name if name in weights else "") for name in node.input)
        attributes = sorted(map(_attribute, node.attribute))
        counts[_module(node.name.rpartition("/")[0])][
            node.op_type, "; ".join([*inputs, *attributes])
        ] += 1
    for opset in model.opset_import:
        counts[""][f"opset {opset.domain or 'ai.onnx'} {opset.version}", ""] += 1
    return counts


def _attribute(attribute: onnx.AttributeProto) -> str:
    """Return an attribute as text; of a subgraph only the name, as its nodes are counted, too."""
    if attribute.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
        return str(attribute.name)
    data: bytes = attribute.SerializeToString(deterministic=True)
    return data.hex()


def _literals(model: onnx.ModelProto) -> dict[str, str]:
    """Return the numbers of initializers that are too small to be weights, by name."""
    return {
        tensor.name: str(onnx.numpy_helper.to_array(tensor).tolist())
        for tensor in model.graph.initializer
        if np.prod(tensor.dims) <= _LITERAL
    }


def _named(operators: Counter[tuple[str, str]]) -> Counter[str]:
    """Count the nodes of each operator, whatever they read."""
    return Counter(_repeated(operators.items()))


def _repeated(items: Iterable[tuple[tuple[str, str], int]]) -> Iterator[str]:
    for (name, _), times in items:
        yield from [name] * times


def _module(name: str) -> str:
    """Return a name's module down to its first number, ``encoder.layer.0``; else its first part."""
    for prefix in INTEGERS:
        name = name.removeprefix(prefix)
    parts = [part for part in re.split(r"[./]", name) if part]
    index = next((at for at, part in enumerate(parts) if part.isdigit()), None)
    return ".".join(parts[: 1 if index is None else index + 1])
