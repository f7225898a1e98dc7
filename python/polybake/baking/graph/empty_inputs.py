"""Leave out the inputs that a node names last and gives nothing to."""

import onnx

from polybake.baking.graph.nodes import every_node


def drop_empty_inputs(model: onnx.ModelProto) -> None:
    """Drop the empty names behind each node's last input, in functions and branches too.

    Both forms mean the same, but ONNX Runtime's fusions (1.20 to 1.31) read the third input of a
    LayerNormalization if it is listed, and end the process if it is empty.

    Source: ONNX, docs/IR.md, "Optional Inputs and Outputs".
    """
    for node in every_node(model):
        while node.input and not node.input[-1]:
            node.input.pop()
