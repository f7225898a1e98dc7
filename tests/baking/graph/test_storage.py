"""Weights stored narrow are the same numbers, and narrow graphs are computed in 32 bits."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
from onnxscript import GraphBuilder, ir

from models.bake import bake
from models.folders.tiny_folders import CONFIG, bert_weights, write_bert
from polybake.baking.graph.external_data import widen
from polybake.baking.graph.storage import store_narrow
from polybake.baking.graph.write import serialize
from polybake.baking.layers.network import new_model
from polybake.baking.recipe.resolve import resolve
from polybake.baking.sources import open_source
from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import decode_vectors
from polybake.runtime.session import open_session

WIDE = CONFIG | {"hidden_size": 48, "intermediate_size": 96}
#: What a sloppy rounding would change: signs of zero, the smallest and the largest numbers.
EXTREMES = {
    np.float16: [-0.0, 6e-8, -6.1e-5, 65504.0],
    ml_dtypes.bfloat16: [-0.0, 9.2e-41, 1e-38, 3.3895e38],
}


def baked(folder: Path, weights: dict[str, Any]) -> tuple[Path, np.ndarray[Any, Any]]:
    """A model file of a tiny BERT with these weights, and its golden vectors."""
    source = open_source(write_bert(folder / "model", WIDE, weights))
    steps = resolve([{"step": "pool", "mode": "mean"}], base=folder, source=source)
    out = bake(source, steps, folder / "out.onnx", name="tiny").path
    cases = read_head(out).fixture.cases
    return out, np.concatenate([decode_vectors(case.embeddings) for case in cases])


@pytest.mark.parametrize("dtype", EXTREMES)
def test_a_narrow_checkpoint_gives_the_same_vectors_in_half_the_bytes(
    tmp_path: Path, dtype: Any
) -> None:
    narrow = {name: array.astype(dtype) for name, array in bert_weights(WIDE).items()}
    wide = {name: array.astype(np.float32) for name, array in narrow.items()}
    found, vectors = baked(tmp_path / "narrow", narrow)
    tensors = {one.name: one for one in onnx.load(found).graph.initializer}
    kind = {np.float16: onnx.TensorProto.FLOAT16}.get(dtype, onnx.TensorProto.BFLOAT16)
    name = next(name for name in tensors if name.endswith("word_embeddings.weight"))
    assert tensors[name].data_type == kind
    same, expected = baked(tmp_path / "wide", wide)
    assert vectors.tobytes() == expected.tobytes()
    # Values that 16 bits hold exactly are stored so, whatever type they came in.
    assert same.stat().st_size == pytest.approx(found.stat().st_size, abs=2000)


def model_of(array: np.ndarray[Any, Any]) -> ir.Model:
    """A table's rows, and the product of the same table with itself."""
    model = new_model()
    builder = GraphBuilder(model.graph)
    ids = builder.input("ids", ir.DataType.INT64, ["n"])
    table = builder.initializer(ir.tensor(array), "table")
    rows = builder.op.Gather(table, ids)
    whole = builder.op.Add(table, builder.op.Mul(table, [0.0]))
    rows.name, whole.name = "rows", "whole"
    for value in (rows, whole):
        value.dtype, value.shape = ir.DataType.FLOAT, ir.Shape(["n", array.shape[1]])
    model.graph.outputs.extend([rows, whole])
    return model


@pytest.mark.parametrize("dtype", EXTREMES)
def test_every_number_is_itself_behind_a_gather_and_elsewhere(tmp_path: Path, dtype: Any) -> None:
    array = np.random.default_rng(1).normal(size=(40, 64)).astype(dtype)
    array[0, :4] = EXTREMES[dtype]
    wide = array.astype(np.float32)
    assert np.array_equal(wide.astype(dtype).view(np.uint16), array.view(np.uint16))
    model = model_of(wide)
    store_narrow(model)
    path = tmp_path / "m.onnx"
    serialize(model).write(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    assert path.stat().st_size < wide.nbytes * 0.7
    rows, whole = open_session(path, threads=1).run(["rows", "whole"], {"ids": np.arange(40)})
    assert rows.tobytes() == wide.tobytes()
    np.testing.assert_array_equal(whole, wide + wide * 0)
    gathers = [node for node in onnx.load(path).graph.node if node.op_type == "Gather"]
    assert [node.input[0] for node in gathers] == ["table"]


def test_one_number_more_keeps_a_weight_wide() -> None:
    array = np.ones((3000, 500), np.float32)
    array[-1, -1] = 1 + 2**-20
    model = model_of(array)
    store_narrow(model)
    assert [node.op_type for node in model.graph] == ["Gather", "Mul", "Add"]
    assert model.graph.initializers["table"].dtype == ir.DataType.FLOAT


def test_float16_rounds_what_is_wide(tmp_path: Path) -> None:
    """Each weight is the nearest float16; what is narrow already stays itself."""
    array = np.random.default_rng(1).normal(size=(40, 64)).astype(np.float32)
    array[0, 0] = 1e-9
    for given, expected in (
        (array, array.astype(np.float16)),
        (array.astype(ml_dtypes.bfloat16).astype(np.float32), array.astype(ml_dtypes.bfloat16)),
    ):
        model = model_of(given)
        store_narrow(model, "float16")
        path = tmp_path / "m.onnx"
        serialize(model).write(path)
        rows = open_session(path, threads=1).run(["rows"], {"ids": np.arange(40)})[0]
        np.testing.assert_array_equal(rows, expected.astype(np.float32))
        assert path.stat().st_size < array.nbytes * 0.7


def test_a_token_table_alone_is_rounded(tmp_path: Path) -> None:
    """A table of other rows stays, and so does what no node looks rows up in."""
    array = np.random.default_rng(1).normal(size=(40, 64)).astype(np.float32)
    model = model_of(array)
    builder = GraphBuilder(model.graph)
    ids = model.graph.inputs[0]
    more = np.resize(array, (41, 64))
    places = builder.op.Gather(builder.initializer(ir.tensor(more), "places"), ids)
    columns = builder.op.Gather(builder.initializer(ir.tensor(array), "columns"), ids, axis=1)
    negative = builder.op.Neg(builder.initializer(ir.tensor(array), "same_rows"))
    for value in (places, columns, negative):
        value.dtype, value.shape = ir.DataType.FLOAT, ir.Shape(["m", "n"])
        model.graph.outputs.append(value)
    store_narrow(model, "float16-table", 40)
    kinds = {name: one.dtype for name, one in model.graph.initializers.items()}
    assert [name for name, kind in kinds.items() if kind == ir.DataType.FLOAT16] == ["table"]
    serialize(model).write(tmp_path / "m.onnx")
    rows = open_session(tmp_path / "m.onnx", threads=1).run(["rows"], {"ids": np.arange(40)})[0]
    np.testing.assert_array_equal(rows, array.astype(np.float16).astype(np.float32))


NARROW = {"float16": 10, "bfloat16": 16}

GRAPH = """
<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
g (float[N, 3] x) => ({name}[N, 3] y) <{name} c, {name} w> {{
    n = Cast <to = {number}> (x)
    a = Mul (n, w)
    zero = Constant <value = float {{0.0}}> ()
    total = ReduceSum <keepdims = 0> (x)
    positive = Greater (total, zero)
    b = If (positive) <
        then_branch = then () => ({name}[N, 3] t) {{ t = own.twice (a) }},
        else_branch = other () => ({name}[N, 3] e) {{ e = Neg (a) }}
    >
    y = Add (b, b)
}}
<domain: "own", opset_import: ["" : 18]>
twice (v) => (r) {{ f = Cast <to = 1> (v)  d = Add (f, f)  r = Cast <to = {number}> (d) }}
"""


@pytest.mark.parametrize("name", NARROW)
def test_nothing_of_a_narrow_graph_is_rounded(name: str) -> None:
    """Types, casts and weights are float32 everywhere, and the weights keep their numbers."""
    model = onnx.parser.parse_model(GRAPH.format(name=name, number=NARROW[name]))
    weight = np.array([1.5, 0.1, -3.0], np.float32)
    narrow = weight.astype(onnx.helper.tensor_dtype_to_np_dtype(NARROW[name]))
    model.graph.initializer.append(onnx.numpy_helper.from_array(narrow, "w"))
    del model.graph.value_info[:]
    widen(model)
    onnx.checker.check_model(model, full_check=True)
    session = open_session(model.SerializeToString())
    x = np.array([[0.1, 0.2, 0.7], [1.1, -0.3, 2.3]], np.float32)
    for fed, factor in ((x, 4), (-x, -2)):
        (found,) = session.run(None, {"x": fed})
        assert found.dtype == np.float32
        expected = factor * fed.astype(np.float64) * narrow.astype(np.float64)
        assert found == pytest.approx(expected, rel=1e-6)


def test_constants_of_nodes_are_weights() -> None:
    constant = onnx.numpy_helper.from_array(np.array([0.1], np.float16))
    node = onnx.helper.make_node("Constant", [], ["c"], value=constant)
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], []))
    widen(model)
    assert onnx.numpy_helper.to_array(node.attribute[0].t).dtype == np.float16
    widened = onnx.numpy_helper.to_array(model.graph.node[0].attribute[0].t)
    np.testing.assert_array_equal(widened, np.array([0.1], np.float16).astype(np.float32))
