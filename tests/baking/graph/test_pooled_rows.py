"""Only the rows that are pooled are computed, with the same result, and all of them again."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnxscript import ir

from models.folders.drawn import write_drawn
from polybake import bake
from polybake.baking.graph.all_rows import compute_all_rows
from polybake.baking.graph.pooled_rows import compute_pooled_rows
from support.samples.drawn_kinds import EVERY

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


SPLIT = "a, b = Split <axis = -1, num_outputs = 2> (product) active = Concat <axis = -1> (b, a)"
TURNED = "t = Transpose <perm = [0, 2, 1]> (product) active = Transpose <perm = [0, 2, 1]> (t)"


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
    ("activated", "alone"),
    [
        ("active = Tanh(product)", True),
        ("active = Add(product, mixed)", True),
        ("active = Mul(ones, product)", True),
        (SPLIT, True),
        ("active = Softmax(product)", True),
        ("active = Reshape(product, flat)", True),
        (TURNED, True),
        ("active = Softmax <axis = 1> (product)", False),
        ("active = CumSum(product, rows)", False),
        ("active = Reshape(product, counted)", False),
        ("most = ReduceMax <keepdims = 1> (product, rows) active = Sub(product, most)", False),
    ],
)
def test_what_keeps_rows_apart_computes_one(activated: str, alone: bool) -> None:
    """The choice moves up to the sum over rows, and not beyond what may need other rows."""
    before, model = layer(activated), layer(activated)
    compute_pooled_rows(model)
    assert ("x" in chosen(model)) == alone
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


@pytest.mark.parametrize("kind", EVERY)
def test_every_encoder_computes_its_last_layer_for_one_row(kind: str, tmp_path: Path) -> None:
    """At least the feed-forward block; of all rows it gives the same, and each token's embedding.

    The bake has compared the file with the whole encoder.
    """
    steps = [{"step": "pool", "mode": "lasttoken"}]
    bake(write_drawn(tmp_path / "model", kind), tmp_path / "one.onnx", name="my-model", steps=steps)
    model = onnx.load(tmp_path / "one.onnx")
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {one.name: one.type.tensor_type.shape.dim for one in graph.value_info}
    products = [node for node in graph.node if node.op_type == "MatMul"]
    weights = {one.name for one in graph.initializer}
    lasts = [shapes[one.output[0]] for one in products if {*one.input} & weights][-2:]
    assert [last[1].dim_value for last in lasts] == [1, 1]
    fed = {
        "input_ids": np.array([[3, 4, 5, 6], [7, 8, 0, 0]]),
        "attention_mask": np.array([[1, 1, 1, 1], [1, 1, 0, 0]]),
    }
    (one,) = ort.InferenceSession(model.SerializeToString()).run(None, fed)
    compute_all_rows(model)
    (choice,) = (node for node in model.graph.node if node.op_type == "GatherND")
    model.graph.output.append(onnx.ValueInfoProto(name=choice.input[0]))
    every, tokens = ort.InferenceSession(model.SerializeToString()).run(None, fed)
    np.testing.assert_allclose(one, every, rtol=0, atol=2e-6)
    assert tokens.shape[:2] == (2, 4)


def test_modes_side_by_side_take_what_they_need(tmp_path: Path) -> None:
    """A mean beside the first token needs all rows."""
    source = write_drawn(tmp_path / "model", "bert")
    steps = [{"step": "pool", "mode": ["cls", "mean"]}]
    bake(source, tmp_path / "both.onnx", name="my-model", steps=steps)
    nodes = onnx.load(tmp_path / "both.onnx").graph.node
    gathers = [node.input[0] for node in nodes if node.op_type == "GatherElements"]
    (first,) = [name for name in gathers if "LayerNorm" in name]
    assert "layer.1" in first
