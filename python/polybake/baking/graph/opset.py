"""Bring a graph to another opset."""

from collections.abc import Iterable

import onnx
import onnx.version_converter
from onnxscript import ir

from polybake.baking.graph.nodes import every_node

_ONNX = ("", "ai.onnx")

#: The newest opset that ONNX Runtime 1.25 to 1.31 load.
NEWEST = 26


def at_opset(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return ``model``, whose operators are all ONNX's own, with the operators of ``opset``.

    Where every node means the same in both opsets, only the number changes: onnx's converter knows
    no way back for most operators, though they merely learned new types.

    Raises:
        Exception: an operator cannot be had there; onnx's errors share no base class.
    """
    (own,) = (one.version for one in model.opset_import)
    nodes = every_node(model)
    if all(_means_the_same(node.op_type, _names(node), own, opset) for node in nodes):
        converted = onnx.ModelProto()
        converted.CopyFrom(model)
        converted.opset_import[0].version = opset
    else:
        converted = onnx.version_converter.convert_version(model, opset)
    onnx.checker.check_model(converted, full_check=True)
    return converted


def raise_opset(model: ir.Model, opset: int) -> bool:
    """Bring ``model`` to ``opset`` at least, in place, if its operators mean the same there.

    Returns:
        Whether it is there; where it is not, nothing is changed.
    """
    graphs: list[ir.Graph | ir.Function] = [model.graph, *model.functions.values()]
    nodes = (node for graph in graphs for node in ir.traversal.RecursiveGraphIterator(graph))
    own = model.opset_imports[""]
    if own < opset:
        if not all(
            _means_the_same(node.op_type, node.attributes, own, opset)
            for node in nodes
            if node.domain in _ONNX
        ):
            return False
        for graph in graphs:
            graph.opset_imports[""] = opset
    return True


def _names(node: onnx.NodeProto) -> list[str]:
    return [one.name for one in node.attribute]


def _means_the_same(kind: str, attributes: Iterable[str], opset: int, other: int) -> bool:
    """Return whether an operator has the same inputs and attributes in both opsets.

    An attribute that only the newer opset has means the older behaviour unless it is set.
    """
    if not all(onnx.defs.has(kind, one, "") for one in (opset, other)):
        return False
    older, newer = (onnx.defs.get_schema(kind, one) for one in sorted((opset, other)))
    if older.deprecated:  # GroupNormalization, whose scales are of groups before opset 21
        return False
    kept = {name: newer.attributes[name] for name in older.attributes if name in newer.attributes}
    return (
        [(one.name, one.option) for one in older.inputs]
        == [(one.name, one.option) for one in newer.inputs]
        and len(older.outputs) == len(newer.outputs)
        and all(name in older.attributes for name in attributes)
        and all(
            name in kept and one.default_value == kept[name].default_value
            for name, one in older.attributes.items()
        )
    )
