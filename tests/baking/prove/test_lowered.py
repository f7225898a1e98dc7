"""A float16 graph on a CPU, rounded after every node."""

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
from onnxscript import ir

from polybake.baking.prove.lowered import round_at_each_node

TEXT = """
    <ir_version: 8, opset_import: ["" : 18]>
    network (float16[4] x) => (float16[4] y) <float16[4] a> {
        a = Mul (x, x)
        y = Sub (a, x)
    }
"""


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found: np.ndarray = ort.InferenceSession(model.SerializeToString(), options).run(None, {"x": x})
    return found[0]


def test_each_result_is_rounded() -> None:
    """A product loses digits before something is taken away from it, and may overflow."""
    x = np.array([1.001, 1.1, 33.3, 300], np.float16)
    model = ir.from_proto(onnx.parser.parse_model(TEXT))
    for node in model.graph:
        node.outputs[0].dtype = ir.DataType.FLOAT16
    round_at_each_node(model.graph)
    with np.errstate(over="ignore"):
        product = (x.astype(np.float32) ** 2).astype(np.float16)
        expected = (product.astype(np.float32) - x.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(run(ir.to_proto(model), x), expected)
    assert np.isinf(expected[3])
