"""The products that are quantized, and how they are grouped."""

import numpy as np
import onnx
from onnxscript import ir

from polybake.baking.quantization.products import groups

GRAPH = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, 128] x, float[128, 128] a, float[128, 128] b, float[128, 128] c,
       float[128, 128] d, float[128] bias, float[2, 128] small) => (float[batch, 128] z)
{
  q = MatMul(x, a)
  k = Gemm <transB = 1> (x, b, bias)
  doubled = Gemm <alpha = 2.0> (x, c)
  turned = Gemm <transA = 1> (x, c)
  tiny = Gemm <transB = 1> (x, small)
  next = Add(q, k)
  scores = MatMul(q, k)
  again = MatMul(next, d)
  shifted = Add(bias, again)
  z = MatMul(shifted, d)
}
"""


def graph(text: str = GRAPH) -> ir.Graph:
    model = ir.from_proto(onnx.parser.parse_model(text))
    random = np.random.default_rng(0)
    _, *weights = model.graph.inputs
    for value in weights:
        assert value.shape is not None
        shape = value.shape.numpy()
        value.const_value = ir.tensor(random.normal(size=shape).astype(np.float32))
        model.graph.inputs.remove(value)
        model.graph.initializers.add(value)
    return model.graph


def test_products_of_a_weight_are_grouped_by_what_they_multiply() -> None:
    found = groups(graph())
    names = [[[one.weight.name for one in layer] for layer in group.layers] for group in found]
    assert names == [[["a", "b"]], [["d"], ["d"]]]
    assert [value.name for value in found[1].values] == ["next", "shifted"]
    first, second = found[0].layers[0]
    assert (first.bias, second.bias and second.bias.name) == (None, "bias")
    assert not first.shift().any()
    assert found[0].inputs == 128
    tensor = second.weight.const_value
    assert tensor is not None
    np.testing.assert_array_equal(second.matrix(), tensor.numpy().T)


def test_a_weight_that_groups_share_in_part_is_left_out() -> None:
    found = groups(graph(GRAPH.replace("again = MatMul(next, d)", "again = MatMul(next, a)")))
    assert [[one.weight.name for one in group.layers[0]] for group in found] == [["d"]]


def test_the_vector_that_is_added_behind_is_the_bias() -> None:
    """A vector added to a product is its bias where nothing else reads the product."""
    (first,), (second,) = groups(graph())[1].layers
    assert [product.end.op_type for product in (first, second)] == ["Add", "MatMul"]
    assert first.shift().shape == (128,)
    assert first.shift().any()
    seen = GRAPH.replace("z = MatMul(shifted, d)", "z = MatMul(shifted, d)\n  y = Neg(again)")
    assert groups(graph(seen))[1].layers[0][0].end.op_type == "MatMul"
    other = GRAPH.replace("Add(bias, again)", "Add(next, again)")
    assert groups(graph(other))[1].layers[0][0].bias is None
