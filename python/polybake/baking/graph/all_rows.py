"""Compute every row again where a graph computes only those that are pooled.

The metadata of its nodes say what `pooled_rows` changed, and where the length of a prefix is found
whose keys and values are constants. A diagnosis, which pools otherwise, needs
every token's embedding; it begins without onnxscript, whose import takes longer than it.
"""

import onnx

from polybake.baking.graph.nodes import metadata

#: The namespace of the operators that choose rows early; each takes rows of its first input.
NAMESPACE = "pooled_rows"

#: The metadata of a choice that was moved: the name of the value that says which rows.
MOVED = "moved_choice_of"

#: The metadata of the node that gives how many tokens of a prefix are not computed.
PREFIX = "prefix"


def compute_all_rows(model: onnx.ModelProto) -> None:
    """Undo `polybake.baking.graph.pooled_rows.compute_pooled_rows`, and every known prefix."""
    nodes = model.graph.node
    early = [node for node in nodes if metadata(node, "namespace") == NAMESPACE]
    sources = {node.output[0]: node.input[0] for node in early}
    for node in early:
        nodes.remove(node)
    for node in nodes:
        index = metadata(node, MOVED)
        if index is not None:
            node.op_type = "GatherND"
            node.input.append(index)
            node.attribute.append(onnx.helper.make_attribute("batch_dims", 1))
        if metadata(node, PREFIX) is not None:
            node.op_type = "Sub"
            node.input.append(node.input[0])
        for position, name in enumerate(node.input):
            while name in sources:
                name = sources[name]
            node.input[position] = name
    for value in model.graph.value_info:
        value.type.tensor_type.ClearField("shape")  # of one row
