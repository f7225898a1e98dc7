"""Graphs in 16 bits, computed in 32."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from polybake.baking.graph.float32 import widen
from polybake.runtime.session import open_session

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
def test_nothing_is_rounded(name: str) -> None:
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


def test_constants_of_nodes() -> None:
    """Tensors in attributes are weights, too."""
    constant = onnx.numpy_helper.from_array(np.array([0.1], np.float16))
    node = onnx.helper.make_node("Constant", [], ["c"], value=constant)
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [], []))
    widen(model)
    assert onnx.numpy_helper.to_array(node.attribute[0].t).dtype == np.float16
    widened = onnx.numpy_helper.to_array(model.graph.node[0].attribute[0].t)
    np.testing.assert_array_equal(widened, np.array([0.1], np.float16).astype(np.float32))
