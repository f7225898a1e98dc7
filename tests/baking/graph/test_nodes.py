from __future__ import annotations

import onnx
import onnx.helper

from polybake.baking.graph.nodes import every_node


def test_gives_those_of_functions_and_branches() -> None:
    """A branch within a function is found as one of the graph is."""

    def branching(name: str) -> onnx.NodeProto:
        inner = onnx.helper.make_node("Identity", ["x"], [name])
        branch = onnx.helper.make_graph([inner], name, [], [])
        return onnx.helper.make_node("If", ["c"], [f"if_{name}"], then_branch=branch)

    function = onnx.helper.make_function("own", "F", ["x"], ["y"], [branching("b")], [])
    graph = onnx.helper.make_graph([branching("a")], "graph", [], [])
    model = onnx.helper.make_model(graph, functions=[function])
    assert [node.output[0] for node in every_node(model)] == ["if_a", "a", "if_b", "b"]
