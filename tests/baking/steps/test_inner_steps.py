"""Steps within a step have names of their own."""

from __future__ import annotations

from onnxscript import GraphBuilder, ir

from polybake.baking.steps import Normalize, State
from polybake.baking.steps.inner_steps import build_each


def test_each_step_has_a_name_of_its_own() -> None:
    """By its place, and the outer name ends with it."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="steps")
    builder = GraphBuilder(graph)
    x, ids, mask = (
        builder.input(name, kind, ["batch", 3])
        for name, kind in (
            ("x", ir.DataType.FLOAT),
            ("i", ir.DataType.INT64),
            ("m", ir.DataType.INT64),
        )
    )
    twice = [Normalize(), Normalize()]
    build_each(builder.op, "inner", twice, State(x, ids, mask))
    begins = {str(node.name).partition("/")[0] for node in graph}
    assert begins == {"inner.0", "inner.1"}
    assert str(builder.op.Identity(x).name).startswith("v_Identity")
