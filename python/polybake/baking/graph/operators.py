"""Check that an ONNX file has only operators that every client's runtime has."""

from collections.abc import Collection

import onnx

from polybake.baking.graph.nodes import every_node

_ONNX = ("", "ai.onnx")


def check_operators(model: onnx.ModelProto, opsets: range, domains: Collection[str] = ()) -> int:
    """Check the operators of a model, of its functions and of the branches within both.

    Returns:
        The opset.
    """
    own = list(dict.fromkeys(item.version for item in model.opset_import if item.domain in _ONNX))
    if len(own) > 1:
        raise ValueError(
            f"imports ONNX's operators at the opsets {own[0]} and {own[1]}; export it with one"
        )
    opset = own[0] if own else 0
    if opset not in opsets:
        raise ValueError(
            f"has opset {opset}, expected {opsets[0]} to {opsets[-1]}; export it again"
        )
    allowed = {*_ONNX, *domains, *(function.domain for function in model.functions)}
    for node in every_node(model):
        if node.domain not in allowed:
            raise ValueError(
                f"uses the custom operator {node.domain}.{node.op_type}, which no client has; "
                "export it with standard operators"
            )
    return opset
