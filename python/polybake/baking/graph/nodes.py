"""Every node of an ONNX model, wherever it stands."""

from collections.abc import Iterable, Iterator

import onnx


def every_node(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """The nodes of the graph, of its functions, and of the branches within both."""
    yield from _with_branches(model.graph.node)
    for function in model.functions:
        yield from _with_branches(function.node)


def metadata(node: onnx.NodeProto, key: str) -> str | None:
    """What a node's metadata say under a key; None where they say nothing."""
    return next((entry.value for entry in node.metadata_props if entry.key == key), None)


def _with_branches(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from _with_branches(graph.node)
