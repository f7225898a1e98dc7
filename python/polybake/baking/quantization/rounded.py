"""A float16 graph that rounds after every node on a CPU, too, as a GPU does."""

from onnxscript import ir

from polybake.baking.quantization.narrow_nodes import MOVING, branches

_NARROW = ir.DataType.FLOAT16
_WIDE = ir.DataType.FLOAT

#: Round by themselves, or nothing.
_KEEPING = {"Cast", "Gather"} | MOVING


def round_at_each_node(graph: ir.Graph) -> None:
    """Let each node that computes in float16 do so in float32, and round what it gives, in place.

    ONNX Runtime does the same on a CPU, and then leaves out the rounding between two such nodes. A
    GPU sums in float32 and writes float16.
    """
    for node in list(graph):
        for branch in branches(node):
            round_at_each_node(branch)
        if node.op_type in _KEEPING or node.outputs[0].dtype != _NARROW:
            continue
        for place, value in enumerate(node.inputs):
            if value is not None and value.dtype == _NARROW:
                wide = ir.node("Cast", [value], {"to": _WIDE})
                wide.outputs[0].dtype = _WIDE
                graph.insert_before(node, wide)
                node.replace_input_with(place, wide.outputs[0])
        for value in node.outputs:
            rounded = ir.node("Cast", [value], {"to": _NARROW})
            value.replace_all_uses_with(rounded.outputs[0], replace_graph_outputs=True)
            rounded.replace_input_with(0, value)
            rounded.outputs[0].dtype, value.dtype = _NARROW, _WIDE
            graph.insert_after(node, rounded)
