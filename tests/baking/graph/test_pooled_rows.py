"""Only the rows that are pooled are computed, with the same result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnxscript import ir

from models.folders.drawn import DRAWN, write_drawn
from polybake import Embedder, bake
from polybake.baking.assemble import build
from polybake.baking.graph.pooled_rows import compute_pooled_rows

TEXTS = ["a river", "Bread is baked in an oven at home.", "", "vectors of every language " * 9]

#: A layer's feed-forward block behind a sum over all rows, and the choice of a row of each text.
LAYER = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, sequence, 4] x, int64[batch, 1, 1] index) => (float[batch, 1, 4] row)
<float[4, 4] wide = {1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 5, 7, 2, 4, 6, 8}, int64[1] rows = {1},
 float[4] ones = {1, 1, 1, 1}, int64[3] flat = {0, 0, 4}, int64[3] counted = {0, -1, 4},
 int64[3] size = {1, 1, 4}>
{
  total = ReduceSum <keepdims = 1> (x, rows)
  mixed = Add(x, total)
  product = MatMul(mixed, wide)
  ACTIVATED
  normed = LayerNormalization <axis = -1> (active, ones)
  elements = Expand(index, size)
  chosen = GatherElements <axis = 1> (normed, elements)
  row = Identity(chosen)
}
"""


def layer(activated: str = "active = Tanh(product)") -> ir.Model:
    """The layer with another operator in its midst, its shapes known."""
    proto = onnx.parser.parse_model(LAYER.replace("ACTIVATED", activated))
    return ir.from_proto(onnx.shape_inference.infer_shapes(proto, data_prop=True))


def run(model: ir.Model) -> NDArray[np.float32]:
    session = ort.InferenceSession(
        ir.to_proto(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    x = np.random.default_rng(0).normal(size=(3, 5, 4)).astype(np.float32)
    (found,) = session.run(None, {"x": x, "index": np.array([[[0]], [[4]], [[2]]])})
    return np.asarray(found)


def chosen(model: ir.Model) -> list[str | None]:
    """The values of which rows are chosen."""
    values = [node.inputs[0] for node in model.graph if node.op_type.startswith("Gather")]
    return [None if value is None else value.name for value in values]


@pytest.mark.parametrize(
    "activated",
    [
        "active = Tanh(product)",
        "active = Add(product, mixed)",
        "active = Mul(ones, product)",
        "a, b = Split <axis = -1, num_outputs = 2> (product) active = Concat <axis = -1> (b, a)",
        "active = Softmax(product)",
        "active = Reshape(product, flat)",
        "t = Transpose <perm = [0, 2, 1]> (product) active = Transpose <perm = [0, 2, 1]> (t)",
    ],
)
def test_what_keeps_rows_apart_computes_one(activated: str) -> None:
    """The choice moves up to the sum over rows; the result is the same."""
    before, model = layer(activated), layer(activated)
    compute_pooled_rows(model)
    assert set(chosen(model)) == {"x"}
    np.testing.assert_allclose(run(model), run(before), rtol=1e-6)


@pytest.mark.parametrize(
    "activated",
    [
        "active = Softmax <axis = 1> (product)",
        "active = CumSum(product, rows)",
        "active = Reshape(product, counted)",
        "most = ReduceMax <keepdims = 1> (product, rows)\n  active = Sub(product, most)",
    ],
)
def test_what_needs_other_rows_computes_all(activated: str) -> None:
    """Nothing moves beyond an operator whose rows depend on each other or are not known to."""
    before, model = layer(activated), layer(activated)
    compute_pooled_rows(model)
    assert "x" not in chosen(model)
    np.testing.assert_allclose(run(model), run(before), rtol=1e-6)


def test_shapes_that_an_export_lacks_are_found() -> None:
    """Other tools state those of inputs and outputs alone."""
    model = ir.from_proto(
        onnx.parser.parse_model(LAYER.replace("ACTIVATED", "active = Tanh(product)"))
    )
    compute_pooled_rows(model)
    assert set(chosen(model)) == {"x"}


def test_an_output_of_all_rows_stays() -> None:
    """A value that leaves the graph has all its rows, and so has what it is computed of."""
    model = layer()
    value = next(one.outputs[0] for one in model.graph if one.op_type == "Tanh")
    model.graph.outputs.append(value)
    compute_pooled_rows(model)
    assert chosen(model) == ["active"]


@pytest.mark.parametrize("kind", DRAWN)
def test_every_encoder_computes_its_last_layer_for_one_row(kind: str, tmp_path: Path) -> None:
    """At least the feed-forward block; the bake has compared the file with the whole encoder."""
    (tmp_path / "model").mkdir()
    steps = [{"step": "pool", "mode": "cls"}]
    bake(write_drawn(tmp_path / "model", kind), tmp_path / "one.onnx", name="my-model", steps=steps)
    graph = onnx.shape_inference.infer_shapes(onnx.load(tmp_path / "one.onnx")).graph
    shapes = {one.name: one.type.tensor_type.shape.dim for one in graph.value_info}
    products = [node for node in graph.node if node.op_type == "MatMul"]
    weights = {one.name for one in graph.initializer}
    lasts = [shapes[one.output[0]] for one in products if {*one.input} & weights][-2:]
    assert [last[1].dim_value for last in lasts] == [1, 1]


@pytest.mark.parametrize("mode", ["cls", "lasttoken"])
def test_vectors_are_those_of_all_rows(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short and long texts in one batch, and an empty one."""
    (tmp_path / "model").mkdir()
    source, steps = write_drawn(tmp_path / "model", "qwen3"), [{"step": "pool", "mode": mode}]
    bake(source, tmp_path / "one.onnx", name="my-model", steps=steps)
    monkeypatch.setattr(build, "compute_pooled_rows", lambda _model: None)
    bake(source, tmp_path / "all.onnx", name="my-model", steps=steps)
    one, every = Embedder(tmp_path / "one.onnx"), Embedder(tmp_path / "all.onnx")
    np.testing.assert_allclose(one.embed(TEXTS), every.embed(TEXTS), rtol=0, atol=2e-6)


def test_modes_side_by_side_take_what_they_need(tmp_path: Path) -> None:
    """A mean beside the first token needs all rows."""
    (tmp_path / "model").mkdir()
    source = write_drawn(tmp_path / "model", "bert")
    steps = [{"step": "pool", "mode": ["cls", "mean"]}]
    bake(source, tmp_path / "both.onnx", name="my-model", steps=steps)
    graph = onnx.load(tmp_path / "both.onnx").graph
    (first,) = [
        node
        for node in graph.node
        if node.op_type == "GatherElements" and "LayerNorm" in node.input[0]
    ]
    assert "layer.1" in first.input[0]
