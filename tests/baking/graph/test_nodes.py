"""Nodes of branches and functions, their modules, and inputs that are named and not given."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import helper
from onnxscript import GraphBuilder, ir

from models.bake import bake
from models.folders.tiny_folders import write_bert
from models.onnx.tiny_onnx import HIDDEN, encoder, expected_tokens, write_encoder
from polybake.baking.graph.branches import branch, choose, within
from polybake.baking.graph.check import check_graph
from polybake.baking.graph.empty_inputs import drop_empty_inputs
from polybake.baking.graph.namespace import namespace
from polybake.baking.graph.nodes import every_node
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors

SCALE = np.random.default_rng(5).normal(1, 0.2, HIDDEN).astype(np.float32)

STEP = """
import numpy as np
from onnxscript import ir

def step(op, embedding):
    scale = op.initializer(ir.tensor(np.ones(12, np.float32)), "scale")
    return op.LayerNormalization(embedding, scale, None)
"""


def begun() -> tuple[GraphBuilder, ir.Value, ir.Value]:
    """A graph with a number, which chooses a branch, and an input."""
    builder = GraphBuilder(ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="main"))
    number = builder.input("number", ir.DataType.INT64, [1])
    return builder, number, builder.input("x", ir.DataType.FLOAT, ["batch", 2])


def runner(builder: GraphBuilder, *results: ir.Value) -> Callable[[np.ndarray, int], list]:
    for place, result in enumerate(results):
        builder.add_output(result, f"result{place}")
    model = ir.Model(builder.graph, ir_version=8)
    check_graph(model)
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
    return lambda x, number: session.run(None, {"x": x, "number": np.array([number])})


def test_weights_and_values_from_outside() -> None:
    """A branch reads the graph around it, and its own weights stand there, under its name."""
    builder, number, x = begun()
    twice = builder.op.Add(x, x)
    weight = ir.tensor(np.array([[1.0], [10.0]], np.float32))

    def narrow() -> list[ir.Value]:
        return [builder.op.MatMul(twice, builder.op.initializer(weight, "weight"))]

    branches = [branch(builder, "narrow", narrow), branch(builder, "same", lambda: [twice])]
    run = runner(builder, *choose(builder, number, branches))
    assert "narrow.weight" in builder.graph.initializers
    assert not any(one.initializers for one in branches)
    fed = np.array([[1, 2], [3, 4]], np.float32)
    assert run(fed, 0)[0].tolist() == [[42.0], [86.0]]
    assert run(fed, 1)[0].tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_sizes_that_differ_are_known_within_a_branch() -> None:
    """The result has no size of its own; a later branch sees the one of its number."""
    builder, number, _ = begun()
    values = [builder.input(f"x{size}", ir.DataType.FLOAT, ["batch", size]) for size in (3, 5, 4)]
    branches = [branch(builder, str(value.name), lambda value=value: [value]) for value in values]
    (chosen,) = choose(builder, number, branches)
    assert chosen.shape == ir.Shape(["batch", None])
    assert [within(builder, chosen, one).shape[1] for one in range(3)] == [3, 5, 4]
    assert within(builder, values[0], 1) is values[0]


@pytest.mark.parametrize("count", [2, 3])
def test_several_results_at_once(count: int) -> None:
    """Each branch gives the same number of results; one value given twice becomes two."""
    builder, number, x = begun()
    branches = [
        branch(builder, str(place), lambda place=place: [builder.op.Mul(x, float(place)), x])
        for place in range(count - 1)
    ]
    branches.append(branch(builder, "twice", lambda: [negative := builder.op.Neg(x), negative]))
    run = runner(builder, *choose(builder, number, branches))
    fed = np.array([[1, -2]], np.float32)
    for place in range(count):
        first, second = run(fed, place)
        last = place == count - 1
        assert first.tolist() == (-fed if last else fed * place).tolist()
        assert second.tolist() == (-fed if last else fed).tolist()


def test_nodes_of_functions_and_branches() -> None:
    """A branch within a function is found as one of the graph is."""

    def branching(name: str) -> onnx.NodeProto:
        inner = helper.make_graph([helper.make_node("Identity", ["x"], [name])], name, [], [])
        return helper.make_node("If", ["c"], [f"if_{name}"], then_branch=inner)

    function = helper.make_function("own", "F", ["x"], ["y"], [branching("b")], [])
    graph = helper.make_graph([branching("a")], "graph", [], [])
    model = helper.make_model(graph, functions=[function])
    assert [node.output[0] for node in every_node(model)] == ["if_a", "a", "if_b", "b"]


@pytest.mark.parametrize(
    ("name", "stated", "expected"),
    [
        ("encoder/layer.0/MatMul_1", None, ("encoder", "layer.0")),
        ("/layers.3/mlp/Add", None, ("layers.3", "mlp")),
        ("node_1", ": Bert/encoder: Stack/layer.0: Layer", ("encoder", "layer.0")),
        ("n", ": Bert/encoder: Stack/encoder.layer.0: Layer", ("encoder", "layer.0")),
        ("a/b", "steps.0: Pool", ("steps.0",)),
        ("MatMul", None, ()),
        (None, None, ()),
    ],
)
def test_namespace(name: str | None, stated: str | None, expected: tuple[str, ...]) -> None:
    """Metadata of a builder comes first, then the path in the node's name."""
    node = ir.node("Add", [], name=name, num_outputs=1)
    if stated:
        node.metadata_props["namespace"] = stated
    assert namespace(node) == expected


def test_empty_inputs_are_dropped_in_branches_too() -> None:
    """An empty name in the middle stays: what follows it is given."""
    inner = helper.make_graph([helper.make_node("Clip", ["x", "", ""], ["y"])], "branch", [], [])
    outer = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    middle = helper.make_node("Clip", ["x", "", "high"], ["y"])
    model = helper.make_model(helper.make_graph([outer, middle], "graph", [], []))
    drop_empty_inputs(model)
    found = [list(node.input) for node in every_node(model)]
    assert found == [["c"], ["x"], ["x"], ["x", "", "high"]]


def test_a_file_that_ends_onnx_runtime_is_baked(tmp_path: Path) -> None:
    """ONNX Runtime 1.31 dies of the file, and this test with it, if it is opened as it came."""
    model = encoder(body="rows = Gather (table, input_ids)  kept = Tanh (rows)", opset=17)
    inputs = ["kept", "scale", ""]
    norm = helper.make_node(
        "LayerNormalization", inputs, ["last_hidden_state"], axis=-1, epsilon=1e-5
    )
    model.graph.node.append(norm)
    model.graph.initializer.append(onnx.numpy_helper.from_array(SCALE, "scale"))
    source = open_source(write_encoder(tmp_path / "m", model))
    steps = resolve([{"step": "pool", "mode": "mean"}], base=tmp_path, source=source)
    out = bake(source, steps, tmp_path / "out.onnx", name="tiny").path
    for case in read_head(out).fixture.cases:
        for ids, vector in zip(case.input_ids, decode_vectors(case.embeddings), strict=True):
            x = expected_tokens(list(ids))
            x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
            assert vector == pytest.approx((x * SCALE).mean(axis=0), abs=1e-5)


def test_a_step_that_gives_no_bias_is_baked(tmp_path: Path) -> None:
    """The builder names an empty input for None, and the file has none."""
    (tmp_path / "own.py").write_text(STEP, encoding="utf-8")
    source = open_source(write_bert(tmp_path / "m"))
    specs = [{"step": "pool", "mode": "mean"}, {"step": "python", "file": "own.py"}]
    steps = resolve(specs, base=tmp_path, source=source)
    out = tmp_path / "out.onnx"
    bake(source, steps, out, name="tiny")
    assert all("" not in node.input[-1:] for node in every_node(onnx.load(out)))
