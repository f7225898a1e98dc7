"""Tell the steps where answers are sought, by the types of a row's tokens."""

from dataclasses import replace

from onnxscript import ir

from polybake.baking.sources.source import EncoderGraph
from polybake.base.modelfile.manifest import SOUGHT, Feed, Input

_FEED: Feed = "token_type_ids"


def seek(graph: EncoderGraph) -> EncoderGraph:
    """Return the graph with an input of types that also says where answers are sought.

    An encoder that reads types gets them without that; other graphs get a new input.
    """
    op = graph.builder.op
    names = {one.feed: one.name for one in graph.inputs}
    if _FEED not in names:
        types = graph.builder.input(_FEED, ir.DataType.INT64, ["batch", "sequence"])
        sought = op.Div(types, SOUGHT)
        inputs = (*graph.inputs, Input(name=_FEED, feed=_FEED))
        return replace(graph, inputs=inputs, state=replace(graph.state, sought=sought))
    nodes = graph.model.graph
    types = next(value for value in nodes.inputs if value.name == names[_FEED])
    users = [use.node for use in types.uses()]
    before = nodes.num_nodes()
    sought, own = op.Div(types, SOUGHT), op.Mod(types, SOUGHT)
    for node in users:
        for place, value in enumerate(node.inputs):
            if value is types:
                node.replace_input_with(place, own)
    added = list(nodes)[before:]
    nodes.remove(added)
    nodes.insert_before(nodes[0], added)
    return replace(graph, state=replace(graph.state, sought=sought))
