"""Graphs at other opsets."""

from __future__ import annotations

import onnx.parser
import pytest
from onnxscript import ir

from polybake.baking.graph.opset import at_opset, can_raise_opset, raise_opset


def graph(body: str, opset: int) -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]>\n'
        f"g (float[N, 7] x) => (float[N, M] y) {{{body}}}"
    )


@pytest.mark.parametrize(
    ("body", "own", "to"),
    [
        ("y = Tanh (x)", 18, 11),
        ("y = Cast <to = 1> (x)", 19, 13),
        ("y = Softmax <axis = 1> (x)", 18, 13),
    ],
)
def test_only_the_number_changes(body: str, own: int, to: int) -> None:
    """A graph whose operators mean the same keeps its nodes, byte for byte."""
    model = graph(body, own)
    moved = at_opset(model, to)
    assert moved.opset_import[0].version == to
    assert moved.graph == model.graph


def test_a_default_that_changed_is_converted() -> None:
    """Softmax flattened its input before opset 13, so it is written out for a newer one."""
    model = graph("y = Softmax (x)", 11)
    model.graph.input[0].type.tensor_type.shape.dim.add(dim_value=2)
    moved = at_opset(model, 13)
    assert {"Flatten", "Softmax", "Reshape"} <= {node.op_type for node in moved.graph.node}


@pytest.mark.parametrize(
    ("body", "own", "to"),
    [
        ("y = Gelu (x)", 20, 18),
        ("a = Shape <start = 1> (x)  y = Cast <to = 1> (a)", 15, 13),
        ("c = Constant <value_ints = [1]> ()  y = ReduceSum (x, c)", 13, 11),
    ],
)
def test_what_another_opset_lacks_is_an_error(body: str, own: int, to: int) -> None:
    """An operator, an attribute that is set, or an input that is not there cannot go back."""
    with pytest.raises(Exception, match=r"\S"):
        at_opset(graph(body, own), to)


@pytest.mark.parametrize(
    ("body", "own", "can"),
    [
        ("y = Tanh (x)", 18, True),
        ("y = Gelu (x)", 24, True),
        ("y = Softmax (x)", 11, False),
        ("y = GroupNormalization <num_groups = 1> (x, s, s)", 18, False),
    ],
)
def test_an_opset_is_raised_where_all_operators_mean_the_same(
    body: str, own: int, can: bool
) -> None:
    """A default, or the size of a scale, may be another in a newer one."""
    assert can_raise_opset(ir.from_proto(graph(body, own)), 23) is can


@pytest.mark.parametrize(("own", "raised"), [(18, 23), (24, 24)])
def test_functions_are_raised_with_their_graph(own: int, raised: int) -> None:
    """They import the same opset; a newer one stays."""
    function = ir.Function(
        "own", "f", graph=ir.Graph([], [], nodes=[], opset_imports={"": own}), attributes=[]
    )
    model = ir.from_proto(graph("y = Tanh (x)", own))
    model.functions[function.identifier()] = function
    raise_opset(model, 23)
    assert function.opset_imports[""] == model.opset_imports[""] == raised
