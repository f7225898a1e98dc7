"""The matmuls that are quantized, how they are grouped, and the nodes that are float16."""

import numpy as np
import onnx
import pytest
from onnxscript import ir

from polybake.baking.quantization.matmuls import groups
from polybake.baking.quantization.narrow_nodes import NarrowNodes

GRAPH = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, 128] x) => (float[batch, 128] z)
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
RANDOM = np.random.default_rng(0)
WEIGHTS = {name: RANDOM.normal(size=(128, 128)) for name in "abcd"}
WEIGHTS |= {"bias": RANDOM.normal(size=128), "small": RANDOM.normal(size=(2, 128))}


def graph(text: str, weights: dict[str, object]) -> ir.Graph:
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.float32(array), name) for name, array in weights.items()
    )
    return ir.from_proto(model).graph


def test_matmuls_of_a_weight_are_grouped_by_what_they_multiply() -> None:
    found = groups(graph(GRAPH, WEIGHTS))
    names = [[[one.weight.name for one in layer] for layer in group.layers] for group in found]
    assert names == [[["a", "b"]], [["d"], ["d"]]]
    assert [value.name for value in found[1].values] == ["next", "shifted"]
    first, second = found[0].layers[0]
    assert (first.bias, second.bias and second.bias.name) == (None, "bias")
    assert not first.shift().any()
    assert found[0].inputs == 128
    np.testing.assert_array_equal(second.matrix(), np.float32(WEIGHTS["b"]).T)


def test_a_weight_that_groups_share_in_part_is_left_out() -> None:
    shared = GRAPH.replace("again = MatMul(next, d)", "again = MatMul(next, a)")
    found = groups(graph(shared, WEIGHTS))
    assert [[one.weight.name for one in group.layers[0]] for group in found] == [["d"]]


def test_the_vector_that_is_added_behind_is_the_bias() -> None:
    """A vector added to a matmul is its bias where nothing else reads the matmul."""
    (first,), (second,) = groups(graph(GRAPH, WEIGHTS))[1].layers
    assert [matmul.end.op_type for matmul in (first, second)] == ["Add", "MatMul"]
    np.testing.assert_array_equal(first.shift(), np.float32(WEIGHTS["bias"]))
    seen = GRAPH.replace("z = MatMul(shifted, d)", "z = MatMul(shifted, d)\n  y = Neg(again)")
    assert groups(graph(seen, WEIGHTS))[1].layers[0][0].end.op_type == "MatMul"
    other = GRAPH.replace("Add(bias, again)", "Add(next, again)")
    assert groups(graph(other, WEIGHTS))[1].layers[0][0].bias is None


BRANCHES = "then_branch = t () => (float p) { p = MatMul (x, w) }, else_branch = e () => (float q) "


@pytest.mark.parametrize(
    ("body", "constant", "expected"),
    [
        ("a = MatMul (x, w) b = Add (a, c) y = Erf (b)", 3, "a b y"),
        ("a = MatMul (x, w) y = Add (a, x)", 0, "a"),
        ("a = MatMul (x, w) b = MatMul (x, w) y = Mul (a, b)", 0, "a b y"),
        ("a = MatMul (x, w) y = Mul (a, a)", 0, "a"),
        ("a = MatMul (x, w) y = Add (a, c)", 1e5, "a"),
        ("a = MatMul (x, w) y = Add (a, c)", -np.inf, "a"),
        ("a = MatMul (x, w) y = Add (a, c)", 1e-12, "a"),
        ("a = MatMul (x, w) y = Add (a, c)", [0, 0], "a y"),
        ("a = MatMul (x, w) y = Softmax (a)", 0, "a"),
        ("t = Transpose (x) y = MatMul (x, t)", 0, ""),
        ("a = MatMul (x, w) t = Transpose (x) y = MatMul (a, t)", 0, "a"),
        ("a = MatMul (x, w) s = Softmax (a) t = Transpose (a) y = MatMul (s, t)", 0, "a t y"),
        ("y = MatMul (x, c)", np.zeros((128, 4)), ""),
        ("y = Gemm (x, w, x)", 0, "y"),
        ("a = MatMul (x, w) s = Shape (x) y = Reshape (a, s)", 0, "a y"),
        (f"y = If (flag) <{BRANCHES} {{ q = Identity (x) }}>", 0, "p"),
    ],
)
def test_narrow_nodes(body: str, constant: object, expected: str) -> None:
    """Matmuls of large weights, matmuls of two such, and what only follows them; no step."""
    text = f"""
        <ir_version: 8, opset_import: ["" : 18]>
        network (float[rows, 128] x, bool flag) => (float y) {{{body}}}
    """
    found = graph(text, {"w": np.zeros((128, 128)), "c": constant})
    nodes = NarrowNodes(found).nodes
    assert [node.outputs[0].name for node in nodes] == expected.split()
    for node in ir.traversal.RecursiveGraphIterator(found):
        node.metadata_props["namespace"] = "steps.0: Dense"
    assert not NarrowNodes(found).nodes
