"""The opset and the IR version that a graph has, needs, and may be moved to."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from onnxscript import ir

from models.bake import bake
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.graph.ir_version import lower_ir_version
from polybake.baking.graph.opset import at_opset, can_raise_opset, raise_opset
from polybake.baking.graph.write import write_to_run
from polybake.baking.sources import open_source
from polybake.baking.steps import Pool
from polybake.runtime.session import open_session

NEWEST = 14
POOL = [Pool(mode="mean")]


def graph(body: str, opset: int, more: str = "", functions: str = "") -> onnx.ModelProto:
    return onnx.parser.parse_model(
        f'<ir_version: {NEWEST}, opset_import: ["" : {opset}{more}]>\n'
        f"g (float[N, 7] x) => (float[N, M] y) {{{body}}}\n{functions}"
    )


def written(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """What is written of a model, which ONNX Runtime loads."""
    write_to_run(ir.from_proto(model), path)
    open_session(path)
    return onnx.load(path)


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
    x = np.random.default_rng(0).normal(size=(3, 7, 2)).astype(np.float32)
    moved = at_opset(model, 13)
    assert moved.opset_import[0].version == 13
    found, expected = (
        open_session(one.SerializeToString()).run(None, {"x": x})[0] for one in (moved, model)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("body", "own", "to", "named"),
    [
        ("y = Gelu (x)", 20, 18, "Gelu"),
        ("a = Shape <start = 1> (x)  y = Cast <to = 1> (a)", 15, 13, "for Shape"),
        ("c = Constant <value_ints = [1]> ()  y = ReduceSum (x, c)", 13, 11, "attribute 'value'"),
    ],
)
def test_what_another_opset_lacks_is_an_error(body: str, own: int, to: int, named: str) -> None:
    """An operator, an attribute that is set, or an input that is not there cannot go back."""
    with pytest.raises(RuntimeError, match=named):
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
    function = f'<domain: "own", opset_import: ["" : {own}]> f (x) => (y) {{ y = Neg (x) }}'
    model = ir.from_proto(graph("y = own.f (x)", own, ', "own" : 1', function))
    raise_opset(model, 23)
    (function,) = model.functions.values()
    assert function.opset_imports[""] == model.opset_imports[""] == raised


SCALE = "Scale <a: float = 2.0> (x) => (y) { y = Elu <alpha: float = @a> (x) }"
FUNCTIONS = [
    ("own.Scale", "", "Scale (x) => (y) { y = Tanh (x) }", 8),
    ("own.Scale", "", SCALE, 9),
    ("own.Scale:other", ', overload: "other"', "Scale (x) => (y) { y = Tanh (x) }", 10),
]


@pytest.mark.parametrize(
    ("opset", "needed"),
    [(11, 6), (12, 7), (15, 8), (17, 8), (18, 8), (19, 9), (21, 10), (23, 11), (24, 12), (26, 13)],
)
def test_the_version_of_an_opset(opset: int, needed: int, tmp_path: Path) -> None:
    """The version that ONNX published with the opset, by the table of its Versioning.md."""
    found = written(graph("y = Tanh (x)", opset), tmp_path / "m.onnx")
    assert (found.ir_version, found.opset_import[0].version) == (needed, opset)


@pytest.mark.parametrize(("called", "named", "body", "needed"), FUNCTIONS)
def test_the_version_of_functions(
    called: str, named: str, body: str, needed: int, tmp_path: Path
) -> None:
    """Functions came with 8, defaults of their attributes with 9, several of a name with 10."""
    function = f'<domain: "own", opset_import: ["" : 12]{named}> {body}'
    model = graph(f"y = {called} (x)", 12, ', "own" : 1', function)
    assert written(model, tmp_path / "m.onnx").ir_version == needed


@pytest.mark.parametrize(
    ("dtype", "needed"),
    [
        ("FLOAT16", 8),
        ("BFLOAT16", 8),
        ("INT8", 8),
        ("FLOAT8E4M3FN", 9),
        ("FLOAT8E5M2FNUZ", 9),
        ("UINT4", 10),
        ("INT4", 10),
        ("FLOAT4E2M1", 11),
    ],
)
@pytest.mark.parametrize("place", ["weight", "constant", "output", "branch"])
def test_the_version_of_a_type(dtype: str, needed: int, place: str) -> None:
    """Wherever it stands; an operator of another domain may have it at any opset."""
    number = getattr(TensorProto, dtype)
    tensor = helper.make_tensor("w", number, [1, 2], [1, 0])
    model = graph("y = own.Own (x)", 17, ', "own" : 1')
    if place == "weight":
        model.graph.initializer.append(tensor)
    if place == "constant":
        model.graph.node.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    if place == "output":
        model.graph.value_info.append(helper.make_tensor_value_info("w", number, [1, 2]))
        model.graph.node.insert(0, helper.make_node("Own", ["x"], ["w"], domain="own"))
    if place == "branch":
        kept = helper.make_graph([], "then", [], [], [tensor])
        model.graph.node[0].attribute.append(helper.make_attribute("branch", kept))
    found = ir.from_proto(model)
    lower_ir_version(found)
    assert found.ir_version == needed


@pytest.mark.parametrize(("opset", "own", "needed"), [(12, 6, 7), (17, 14, 8), (21, 11, 10)])
def test_a_source_of_any_version(opset: int, own: int, needed: int, tmp_path: Path) -> None:
    """The file has that of its opset; domains and devices of nothing go."""
    rows = "rows = Gather (table, input_ids)  last_hidden_state = Tanh (rows)"
    model = encoder(body=rows, opset=opset, ir_version=own)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    if own >= 11:
        model.configuration.add(name="two", num_devices=2)
        model.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=1)
    source = open_source(write_encoder(tmp_path / "m", model))
    path = bake(source, POOL, tmp_path / "out.onnx", name="tiny").path
    found = onnx.load(path)
    assert found.ir_version == needed
    assert "ai.onnx.ml" not in {one.domain for one in found.opset_import}
    assert not found.configuration
    assert not any(node.device_configurations for node in found.graph.node)
