"""Branches of a graph."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import GraphBuilder, ir

from polybake.baking.graph.branches import branch, choose, within
from polybake.baking.graph.check import check_graph


def test_weights_and_values_from_outside() -> None:
    """A branch reads the graph around it, and its own weights stand there, under its name."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="main")
    builder = GraphBuilder(graph)
    number = builder.input("number", ir.DataType.INT64, [1])
    x = builder.input("x", ir.DataType.FLOAT, ["batch", 2])
    twice = builder.op.Add(x, x)
    weight = ir.tensor(np.array([[1.0], [10.0]], np.float32))

    def narrow() -> list[ir.Value]:
        return [builder.op.MatMul(twice, builder.op.initializer(weight, "weight"))]

    branches = [branch(builder, "narrow", narrow), branch(builder, "same", lambda: [twice])]
    (chosen,) = choose(builder, number, branches)
    builder.add_output(chosen, "chosen")
    assert [node.op_type for node in graph] == ["Add", "Equal", "If"]
    assert "narrow.weight" in graph.initializers
    assert not any(one.initializers for one in branches)

    model = ir.Model(graph, ir_version=8)
    check_graph(model)
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
    fed = np.array([[1, 2], [3, 4]], np.float32)
    found = [session.run(None, {"x": fed, "number": np.array([one])})[0] for one in (0, 1)]
    assert found[0].tolist() == [[42.0], [86.0]]
    assert found[1].tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_sizes_that_differ_are_known_within_a_branch() -> None:
    """The result has no size of its own; a later branch sees the one of its number."""
    builder = GraphBuilder(ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="main"))
    number = builder.input("number", ir.DataType.INT64, [1])
    values = [builder.input(f"x{size}", ir.DataType.FLOAT, ["batch", size]) for size in (3, 5, 4)]
    branches = [branch(builder, str(value.name), lambda value=value: [value]) for value in values]
    (chosen,) = choose(builder, number, branches)
    assert chosen.shape == ir.Shape(["batch", None])
    assert [within(builder, chosen, one).shape[1] for one in range(3)] == [3, 5, 4]
    assert within(builder, values[0], 1) is values[0]


@pytest.mark.parametrize("count", [2, 3])
def test_several_results_at_once(count: int) -> None:
    """Each branch gives the same number of results; one value given twice becomes two."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="main")
    builder = GraphBuilder(graph)
    number = builder.input("number", ir.DataType.INT64, [1])
    x = builder.input("x", ir.DataType.FLOAT, ["batch", 2])
    branches = [
        branch(builder, str(place), lambda place=place: [builder.op.Mul(x, float(place)), x])
        for place in range(count - 1)
    ]
    branches.append(branch(builder, "twice", lambda: [negative := builder.op.Neg(x), negative]))
    for place, result in enumerate(choose(builder, number, branches)):
        builder.add_output(result, f"result{place}")
    model = ir.Model(graph, ir_version=8)
    check_graph(model)
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
    fed = np.array([[1, -2]], np.float32)
    for place in range(count):
        first, second = session.run(None, {"x": fed, "number": np.array([place])})
        last = place == count - 1
        assert first.tolist() == (-fed if last else fed * place).tolist()
        assert second.tolist() == (-fed if last else fed).tolist()
