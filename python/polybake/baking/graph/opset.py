"""Bring a graph to another opset."""

import onnx
import onnx.version_converter

from polybake.baking.graph.nodes import every_node

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
    if all(_means_the_same(node, own, opset) for node in every_node(model)):
        converted = onnx.ModelProto()
        converted.CopyFrom(model)
        converted.opset_import[0].version = opset
    else:
        converted = onnx.version_converter.convert_version(model, opset)
    onnx.checker.check_model(converted, full_check=True)
    return converted


def _means_the_same(node: onnx.NodeProto, opset: int, other: int) -> bool:
    """Return whether an operator has the same inputs and attributes in both opsets.

    An attribute that only the newer opset has means the older behaviour unless it is set.
    """
    if not all(onnx.defs.has(node.op_type, one, "") for one in (opset, other)):
        return False
    older, newer = (onnx.defs.get_schema(node.op_type, one) for one in sorted((opset, other)))
    kept = {name: newer.attributes[name] for name in older.attributes if name in newer.attributes}
    return (
        [(one.name, one.option) for one in older.inputs]
        == [(one.name, one.option) for one in newer.inputs]
        and len(older.outputs) == len(newer.outputs)
        and all(one.name in older.attributes for one in node.attribute)
        and all(
            name in kept and one.default_value == kept[name].default_value
            for name, one in older.attributes.items()
        )
    )
