"""What ONNX Runtime makes of a graph as it loads it."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnxscript import ir

from polybake.baking.graph.slow_fusions import avoid_slow_fusions

#: A sum before a norm, its feed-forward part with GELU, and a sum before a norm taken apart.
LAYER = """
<ir_version: 8, opset_import: ["": 18]>
layer (float[batch, sequence, 8] x, float[batch, sequence, 8] y) => (float[batch, sequence, 8] z)
<float[8] ones = {1, 1, 1, 1, 1, 1, 1, 1}, float[8] bias = {1, 2, 3, 4, 5, 6, 7, 8},
 float[8] bias2 = {8, 7, 6, 5, 4, 3, 2, 1}, float root = {1.4142135}, float one = {1.0},
 float half = {0.5}, float two = {2.0}, int64[1] last = {-1}, float epsilon = {1e-6}>
{
  sum = Add(x, y)
  normed = LayerNormalization <axis = -1> (sum, ones, bias)
  biased = Add(normed, bias2)
  scaled = Div(biased, root)
  error = Erf(scaled)
  phi = Add(error, one)
  product = Mul(biased, phi)
  active = Mul(product, half)
  residual = Add(active, normed)
  mean = ReduceMean <keepdims = 1> (residual, last)
  centred = Sub(residual, mean)
  squared = Pow(centred, two)
  variance = ReduceMean <keepdims = 1> (squared, last)
  shifted = Add(variance, epsilon)
  size = Sqrt(shifted)
  unit = Div(centred, size)
  scaled2 = Mul(unit, ones)
  z = Add(scaled2, bias)
}
"""


def layer() -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(LAYER))


def run(model: ir.Model, folder: Path) -> tuple[Counter[str], NDArray[Any]]:
    """The operators of the graph that really runs, and what it gives."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    session = ort.InferenceSession(
        ir.to_proto(model).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    nodes = onnx.load(options.optimized_model_filepath).graph.node
    random = np.random.default_rng(0)
    fed = {name: random.normal(size=(2, 3, 8)).astype(np.float32) for name in ("x", "y")}
    return Counter(node.op_type for node in nodes), session.run(None, fed)[0]


def test_nothing_slow_is_fused(tmp_path: Path) -> None:
    """The runtime would fuse three; after the rewriting none, and the numbers stay."""
    model = layer()
    before, expected = run(model, tmp_path)
    assert before == {"SkipLayerNormalization": 2, "BiasGelu": 1}
    avoid_slow_fusions(model)
    after, found = run(model, tmp_path)
    assert after == {"Sum": 2, "LayerNormalization": 2, "Add": 1, "Gelu": 1}
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_other_sums_stay(tmp_path: Path) -> None:
    """A bias that another node also uses is left as it is."""
    model = layer()
    shared = next(iter(node for node in model.graph if node.outputs[0].name == "biased"))
    shared.replace_input_with(1, model.graph.initializers["bias"])
    avoid_slow_fusions(model)
    kinds = Counter(node.op_type for node in model.graph)
    assert (kinds["Sum"], kinds["Add"]) == (2, 4)
    run(model, tmp_path)
