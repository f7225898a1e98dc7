"""Attention is one operator, with the same result."""

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnxscript import ir

from models.folders.drawn import write_drawn
from polybake.baking.graph.write import write_to_run
from polybake.baking.quantization.attention import fuse_attention
from polybake.baking.sources import open_source
from support.samples.drawn_kinds import EVERY

#: Two heads of two elements.
LAYER = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, sequence, 4] x, float[batch, 1, 1, sequence] bias)
    => (float[batch, sequence, 4] y)
<int64[4] split = {0, 0, 2, 2}, int64[3] merged = {0, 0, 4}, float two = {2}, float[1] most = {0.9},
 float[2, 1, 1] each = {0.4, 0.7}>
{
  a = Reshape(x, split)
  q = Transpose <perm = [0, 2, 1, 3]> (a)
  b = Reshape(x, split)
  k = Transpose <perm = [0, 2, 1, 3]> (b)
  c = Reshape(x, split)
  v = Transpose <perm = [0, 2, 1, 3]> (c)
  t = Transpose <perm = [0, 1, 3, 2]> (k)
  matmul = MatMul(q, t)
  scores = Div(matmul, two) sum = Add(scores, bias)
  weights = Softmax <axis = -1> (sum)
  mixed = MatMul(weights, v)
  back = Transpose <perm = [0, 2, 1, 3]> (mixed)
  y = Reshape(back, merged)
}
"""

SCORES = "scores = Div(matmul, two) sum = Add(scores, bias)"

#: A branch of a graph that has attention by head.
BRANCH = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, sequence, 4] x, float[batch, 1, 1, sequence] bias)
    => (float[batch, 2, sequence, 2] y)
<int64[4] split = {0, 0, 2, 2}, float two = {2}, bool yes = {1}>
{
  a = Reshape(x, split)
  q = Transpose <perm = [0, 2, 1, 3]> (a)
  y = If(yes) <
    then_branch = attends () => (float[batch, 2, sequence, 2] mixed) {
      t = Transpose <perm = [0, 1, 3, 2]> (q)
      matmul = MatMul(q, t)
      scores = Div(matmul, two)
      sum = Add(scores, bias)
      weights = Softmax <axis = -1> (sum)
      mixed = MatMul(weights, q)
    },
    else_branch = stays () => (float[batch, 2, sequence, 2] same) { same = Identity(q) }
  >
}
"""


def layer(line: str = "layer", other: str = "layer") -> ir.Model:
    """The layer with another line in the place of one, its shapes known."""
    assert line in LAYER
    proto = onnx.parser.parse_model(LAYER.replace(line, other))
    return ir.from_proto(onnx.shape_inference.infer_shapes(proto, data_prop=True))


def run(model: ir.Model) -> NDArray[np.float32]:
    session = ort.InferenceSession(
        ir.to_proto(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    random = np.random.default_rng(0)
    x = random.normal(size=(3, 5, 4)).astype(np.float32)
    bias = random.normal(size=(3, 1, 1, 5)).astype(np.float32)
    return np.asarray(session.run(["y"], {"x": x, "bias": bias})[0])


def kinds(model: ir.Model) -> Counter[str]:
    return Counter(node.op_type for node in model.graph)


@pytest.mark.parametrize(
    ("line", "other", "transposed"),
    [
        (SCORES, SCORES, 0),
        (SCORES, "scores = Mul(matmul, most) sum = Add(scores, bias)", 0),
        (SCORES, "sum = Add(matmul, bias)", 0),
        ("y = Reshape(back, merged)", "z = Identity(back) y = Reshape(z, merged)", 4),
        ("c = Reshape(x, split)", "n = Neg(split) pos = Neg(n) c = Reshape(x, pos)", 4),
    ],
)
def test_attention_is_one_operator(line: str, other: str, transposed: int) -> None:
    """Scores have any scale; rows that are not laid out by head alone keep their transposes."""
    before, model = layer(line, other), layer(line, other)
    fuse_attention(model)
    assert (kinds(model)["Attention"], kinds(model)["Transpose"]) == (1, transposed)
    (attention,) = (node for node in model.graph if node.op_type == "Attention")
    if not transposed:
        heads = [attention.attributes.get_int(f"{name}_num_heads") for name in ("q", "kv")]
        assert heads == [2, 2]
    assert model.opset_imports[""] == 23
    np.testing.assert_allclose(run(model), run(before), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("line", "other", "opset"),
    [
        (SCORES, "scores = Mul(matmul, each) sum = Add(scores, bias)", 18),
        (SCORES, "scores = Neg(matmul) sum = Add(scores, bias)", 18),
        ("axis = -1", "axis = 1", 18),
        ("sequence, 4] y)", "sequence, 4] y, float[] weights)", 18),
        ("axis = -1", "axis = 3", 11),
    ],
    ids=["a scale a head", "negative", "heads compete", "weights are seen", "another Softmax"],
)
def test_what_is_no_attention_stays(line: str, other: str, opset: int) -> None:
    model = layer(line, other)
    model.opset_imports[""] = opset
    fuse_attention(model)
    assert (kinds(model)["Softmax"], kinds(model)["Attention"]) == (1, 0)
    assert model.opset_imports[""] == opset


def test_attention_in_a_branch() -> None:
    """Routes have one each; the bias is repeated within."""
    proto = onnx.shape_inference.infer_shapes(onnx.parser.parse_model(BRANCH))
    before, model = ir.from_proto(proto), ir.from_proto(proto)
    fuse_attention(model)
    nodes = [node.op_type for node in ir.traversal.RecursiveGraphIterator(model.graph)]
    assert ("Softmax" in nodes, nodes.count("Attention"), nodes.count("Expand")) == (False, 1, 1)
    np.testing.assert_allclose(run(model), run(before), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", EVERY)
def test_every_architecture(kind: str, tmp_path: Path) -> None:
    """All of its attention is such an operator; texts are padded, and one is a token alone."""
    graph = open_source(write_drawn(tmp_path / "model", kind)).encoder.place()
    model = graph.model
    model.graph.outputs.append(graph.state.x)
    expected = token_embeddings(model, tmp_path)
    layers = kinds(model)["Softmax"]
    fuse_attention(model)
    assert (kinds(model)["Softmax"], kinds(model)["Attention"]) == (0, layers)
    names = [str(node.name) for node in model.graph if node.op_type == "Attention"]
    assert all("att" in name.rpartition("/")[0].lower() for name in names)
    np.testing.assert_allclose(token_embeddings(model, tmp_path), expected, rtol=1e-4, atol=1e-5)


def token_embeddings(model: ir.Model, folder: Path) -> NDArray[np.float32]:
    """Those of three texts, where they are not padding."""
    write_to_run(model, folder / "model.onnx")
    session = ort.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    mask = np.array([[1] * 20, [1] * 7 + [0] * 13, [1] + [0] * 19])
    fed = {"attention_mask": mask, "input_ids": np.random.default_rng(0).integers(3, 30, (3, 20))}
    (found,) = session.run(None, fed)
    return np.asarray(found)[mask == 1]
