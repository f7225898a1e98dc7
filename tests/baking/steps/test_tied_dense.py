"""A dense layer whose weight is a table of the graph's, too."""

from __future__ import annotations

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import GraphBuilder, ir

from models.parts.tiny_state import state
from polybake.steps import State, TiedDense

TABLE = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)
OTHER = TABLE + 1
BIAS = np.arange(7, dtype=np.float32)
IDS = np.array([[3, 0, 6]])


@pytest.mark.parametrize(("weight", "tables"), [(TABLE, 1), (OTHER, 2)], ids=["tied", "other"])
def test_the_table_is_there_once(weight: np.ndarray, tables: int) -> None:
    """A weight equal to the table shares it, any other is stored itself; both compute the layer."""
    step = TiedDense(weight=weight, bias=BIAS, activation="identity")
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="step")
    builder = GraphBuilder(graph)
    ids = builder.input("input_ids", ir.DataType.INT64, ["batch", "sequence"])
    x = builder.op.Gather(builder.op.initializer(ir.tensor(TABLE), "table"), ids)
    x.shape = ir.Shape(["batch", "sequence", 5])
    result = step.build(builder.op, State(x, ids, ids)).x
    builder.add_output(result, "result")
    model = ir.to_proto(ir.Model(graph, ir_version=8))
    assert sum(list(one.dims) == [7, 5] for one in model.graph.initializer) == tables
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": IDS})
    expected = TABLE[IDS].astype(np.float64) @ weight.T + BIAS
    assert found == pytest.approx(expected, abs=1e-5)
    assert step.numpy(state(TABLE[IDS], np.ones_like(IDS))).x == pytest.approx(expected, abs=1e-5)
