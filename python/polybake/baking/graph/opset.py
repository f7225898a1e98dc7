"""Bring a graph to another opset."""

from collections.abc import Iterable

import onnx
import onnx.version_converter
from onnxscript import ir

from polybake.baking.graph.nodes import every_node

#: The newest opset that ONNX Runtime 1.25 to 1.31 load.
NEWEST = 26


def at_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return ``model``, whose operators are all ONNX's own, with the operators of ``opset``.

    Where every node means the same in both opsets, only the number changes: onnx's converter knows
    no way back for most operators, though they merely learned new types.
    """
    (own,) = (entry.version for entry in model.opset_import)
    if all(
        _means_the_same(node.op_type, [attribute.name for attribute in node.attribute], own, opset)
        for node in every_node(model)
    ):
        converted = onnx.ModelProto()
        converted.CopyFrom(model)
        converted.opset_import[0].version = opset
    else:
        converted = onnx.version_converter.convert_version(model, opset)
    onnx.checker.check_model(converted, full_check=True)
    return converted


def can_raise_opset(model: ir.Model, opset: int) -> bool:
    """Whether every operator of ``model`` means the same in ``opset``, or in its own newer one."""
    own = model.opset_imports[""]
    return own >= opset or all(
        _means_the_same(node.op_type, node.attributes, own, opset)
        for graph in _graphs(model)
        for node in ir.traversal.RecursiveGraphIterator(graph)
        if not node.domain
    )


def raise_opset(model: ir.Model, opset: int) -> None:
    """Bring ``model`` to ``opset`` at least, in place, after `can_raise_opset`."""
    for graph in _graphs(model):
        graph.opset_imports[""] = max(opset, graph.opset_imports[""])


def _graphs(model: ir.Model) -> list[ir.Graph | ir.Function]:
    return [model.graph, *model.functions.values()]


def _means_the_same(kind: str, attributes: Iterable[str], opset: int, other: int) -> bool:
    """Return whether an operator has the same inputs and attributes in both opsets.

    An attribute that only the newer opset has means the older behaviour unless it is set.
    """
    if not all(onnx.defs.has(kind, version, "") for version in (opset, other)):
        return False
    older, newer = (onnx.defs.get_schema(kind, version) for version in sorted((opset, other)))
    if older.deprecated:  # GroupNormalization, whose scales are of groups before opset 21
        return False
    common = {name: newer.attributes[name] for name in older.attributes if name in newer.attributes}
    return (
        [(item.name, item.option) for item in older.inputs]
        == [(item.name, item.option) for item in newer.inputs]
        and len(older.outputs) == len(newer.outputs)
        and all(name in older.attributes for name in attributes)
        and all(
            name in common and attribute.default_value == common[name].default_value
            for name, attribute in older.attributes.items()
        )
    )
