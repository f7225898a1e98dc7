"""Leave out the inputs that a node names last and gives nothing to."""

from __future__ import annotations

from collections.abc import Iterable

import onnx


def drop_empty_inputs(nodes: Iterable[onnx.NodeProto]) -> None:
    """Drop the empty names behind each node's last input, in branches too.

    Both forms mean the same, but ONNX Runtime's fusions (1.20 to 1.31) read the third input of a
    LayerNormalization where it has one, and end the process when there is nothing behind it.

    Source: ONNX, docs/IR.md, "Optional Inputs and Outputs".
    """
    for node in nodes:
        while node.input and not node.input[-1]:
            node.input.pop()
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                drop_empty_inputs(graph.node)
