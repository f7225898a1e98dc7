"""A file's IR version is the one that its graph needs; tools write the newest that they know."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnxscript import ir

import polybake
from models.folders.drawn import write_drawn
from models.onnx.tiny_onnx import encoder, write_encoder
from polybake.baking.bake import bake
from polybake.baking.graph.ir_version import lower_ir_version
from polybake.baking.graph.write import write_to_run
from polybake.baking.sources import open_source
from polybake.baking.steps import Normalize, Pool
from polybake.runtime.session import open_session

NEWEST = 14
POOL = [Pool(mode="mean")]

#: Text of a graph that every opset has.
TANH = "(float[n, 4] x) => (float[n, 4] y) { y = Tanh (x) }"


def written(model: onnx.ModelProto, path: Path) -> onnx.ModelProto:
    """What is written of a model, which ONNX Runtime loads."""
    write_to_run(ir.from_proto(model), path)
    open_session(path)
    return onnx.load(path)


def parsed(text: str, opsets: str = '"" : 18') -> onnx.ModelProto:
    return onnx.parser.parse_model(f"<ir_version: {NEWEST}, opset_import: [{opsets}]> g {text}")


@pytest.mark.parametrize(
    ("opset", "needed"),
    [(11, 6), (12, 7), (15, 8), (17, 8), (18, 8), (19, 9), (21, 10), (23, 11), (24, 12), (26, 13)],
)
def test_of_an_opset(opset: int, needed: int, tmp_path: Path) -> None:
    """The version that ONNX published with the opset, by the table of its Versioning.md."""
    found = written(parsed(TANH, f'"" : {opset}'), tmp_path / "m.onnx")
    assert (found.ir_version, found.opset_import[0].version) == (needed, opset)


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
def test_of_a_type(dtype: str, needed: int, place: str) -> None:
    """Wherever it stands; an operator of another domain may have it at any opset."""
    number = getattr(TensorProto, dtype)
    tensor = helper.make_tensor("w", number, [1, 2], [1, 0])
    nodes = [helper.make_node("Own", ["x"], ["y"], domain="own")]
    values = []
    if place == "constant":
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=tensor))
    if place == "output":
        values = [helper.make_tensor_value_info("w", number, [1, 2])]
        nodes.insert(0, helper.make_node("Own", ["x"], ["w"], domain="own"))
    if place == "branch":
        kept = helper.make_graph([], "then", [], [], [tensor])
        nodes = [helper.make_node("Own", ["x"], ["y"], domain="own", branch=kept)]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    weights = [tensor] if place == "weight" else []
    graph = helper.make_graph(nodes, "g", [x], [y], weights, value_info=values)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    model = ir.from_proto(helper.make_model(graph, ir_version=NEWEST, opset_imports=opsets))
    lower_ir_version(model)
    assert model.ir_version == needed


def test_weights_of_four_bits_load(tmp_path: Path) -> None:
    """They need a newer file than the opset does."""
    model = parsed(
        "(int64[n] x) => (float[n, 32] y) "
        "{ y = com.microsoft.GatherBlockQuantized <block_size = 16> (w, x, scales) }",
        '"" : 17, "com.microsoft" : 1',
    )
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.INT4, [3, 32], [1, 2] * 48))
    scales = np.ones((3, 2), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(scales, "scales"))
    assert written(model, tmp_path / "m.onnx").ir_version == 10


FUNCTIONS = [
    ("own.Scale", "", "Scale (x) => (y) { y = Tanh (x) }", 8),
    ("own.Scale", "", "Scale <a: float = 2.0> (x) => (y) { y = Elu <alpha: float = @a> (x) }", 9),
    ("own.Scale:other", ', overload: "other"', "Scale (x) => (y) { y = Tanh (x) }", 10),
]


@pytest.mark.parametrize(("called", "named", "body", "needed"), FUNCTIONS)
def test_of_functions(called: str, named: str, body: str, needed: int, tmp_path: Path) -> None:
    """Functions came with 8, defaults of their attributes with 9, several of a name with 10."""
    text = f"(float[n, 4] x) => (float[n, 4] y) {{ y = {called} (x) }}\n"
    function = f'<domain: "own", opset_import: ["" : 12]{named}> {body}'
    model = parsed(text + function, '"" : 12, "own" : 1')
    assert written(model, tmp_path / "m.onnx").ir_version == needed


#: The rows of the table alone, in operators that every opset from 12 on has.
ROWS = """
    rows = Gather (table, input_ids)
    last_hidden_state = Tanh (rows)
"""


@pytest.mark.parametrize("functions", [False, True])
@pytest.mark.parametrize(("opset", "own", "needed"), [(12, 6, 7), (17, 14, 8), (21, 11, 10)])
def test_a_source_of_any_version(
    opset: int, own: int, needed: int, functions: bool, tmp_path: Path
) -> None:
    """The source's version does not count, and functions need 8."""
    model = encoder(body=ROWS, opset=opset, ir_version=own, domains=', "ai.onnx.ml" : 5')
    source = open_source(write_encoder(tmp_path / "m", model))
    steps = [*POOL, Normalize()]
    path = bake(source, steps, tmp_path / "out.onnx", name="tiny", functions=functions).path
    open_session(path)
    found = onnx.load(path)
    assert found.ir_version == max(needed, 8 * functions)
    assert "ai.onnx.ml" not in {one.domain for one in found.opset_import}


def test_devices_are_dropped(tmp_path: Path) -> None:
    """A node's device is no computation, and would need version 11."""
    model = encoder(body=ROWS, opset=17, ir_version=11)
    model.configuration.add(name="two", num_devices=2)
    model.graph.node[0].device_configurations.add(configuration_id="two", pipeline_stage=1)
    source = open_source(write_encoder(tmp_path / "m", model))
    path = bake(source, POOL, tmp_path / "out.onnx", name="tiny").path
    found = onnx.load(path)
    assert (found.ir_version, len(found.configuration)) == (8, 0)
    assert not any(node.device_configurations for node in found.graph.node)


def test_of_integers(tmp_path: Path) -> None:
    """int8 and int4 have types of bytes; one operator for attention raises opset and version."""
    folder = write_drawn(tmp_path / "m", "bert")
    for precision, opset, needed in (("float32", 18, 8), ("int4", 18, 8), ("int8", 23, 11)):
        out = tmp_path / f"{precision}.onnx"
        report = polybake.bake(folder, out, name="m", steps=POOL, precision=precision)
        found = onnx.load(report.path)
        assert (report.manifest.opset, found.ir_version) == (opset, needed), precision
