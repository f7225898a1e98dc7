"""The check of a graph before it is written."""

from __future__ import annotations

import pytest
from onnxscript import GraphBuilder, ir

from polybake.baking.graph.check import check_graph
from polybake.errors import CheckFailed, InputError


def graph_with(operator: str, opset: int) -> ir.Model:
    graph = ir.Graph([], [], nodes=[], opset_imports={"": opset}, name="checked")
    builder = GraphBuilder(graph)
    x = builder.input("x", ir.DataType.FLOAT, ["batch", 3])
    scale = builder.op.initializer(ir.tensor([1.0, 2.0, 3.0]), "scale")
    y = getattr(builder.op, operator)(x, scale)
    y.dtype, y.shape = ir.DataType.FLOAT, ir.Shape(["batch", 3])
    builder.add_output(y, "y")
    return ir.Model(graph, ir_version=8)


def test_accepts_a_valid_graph() -> None:
    """Operators that the opset has, used as their schemas say, pass."""
    check_graph(graph_with("Add", 11))
    check_graph(graph_with("LayerNormalization", 17))


@pytest.mark.parametrize(
    ("operator", "opset"), [("LayerNormalization", 11), ("NoSuchOperator", 18), ("Gemm", 18)]
)
def test_refuses_what_the_opset_lacks(operator: str, opset: int) -> None:
    """An operator that the opset lacks, or used against its schema, is named."""
    with pytest.raises(CheckFailed, match=f"^own: .*not valid ONNX: .*{operator}.*; mend "):
        check_graph(graph_with(operator, opset), "own")


def test_a_weight_that_cannot_be_read_says_so_itself() -> None:
    """What reading a weight raises is not hidden behind the check's own error."""

    def read() -> ir.TensorProtocol:
        raise InputError("the weight is damaged")

    model = graph_with("Add", 18)
    scale = model.graph.initializers["scale"]
    scale.const_value = ir.LazyTensor(read, ir.DataType.FLOAT, ir.Shape([3]))
    with pytest.raises(InputError, match="the weight is damaged"):
        check_graph(model)
