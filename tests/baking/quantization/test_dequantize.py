"""Graphs that ONNX Runtime quantized dynamically, and what is rebuilt of them."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
import pytest
from onnxscript import ir

from models.onnx.quantized_onnx import quantize_dynamic, widened
from polybake.baking.quantization.dequantize import Rebuilt, dequantize

RANDOM = np.random.default_rng(5)
WEIGHTS = {
    "table": RANDOM.normal(size=(9, 8)).astype(np.float32),
    "w": RANDOM.normal(size=(8, 6)).astype(np.float32),
    "g": RANDOM.normal(1, 2, size=(4, 6)).astype(np.float32),
    "b": RANDOM.normal(size=4).astype(np.float32),
}
IDS = np.array([[1, 2, 3], [8, 0, 5]])


def network(folder: Path, opset: int) -> Path:
    """A table, a product, and another one with a bias, as PyTorch's exporter writes a Linear."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 7, opset_import: ["" : {opset}]>
        network (int64[batch, 3] ids) => (float[rows, 4] y) {{
            rows = Gather (table, ids)
            bent = Tanh (rows)
            product = MatMul (bent, w)
            size = Constant <value = int64[2] {{-1, 6}}> ()
            flat = Reshape (product, size)
            y = Gemm <transB = 1> (flat, g, b)
        }}
    """)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in WEIGHTS.items()
    )
    onnx.save(model, folder / "network.onnx")
    return folder / "network.onnx"


def formula(weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """The network in NumPy; the last product's weight is ``[in, out]``, as it is quantized."""
    product = np.tanh(weights["table"][ids].astype(np.float64)) @ weights["w"]
    y: np.ndarray = product.reshape(-1, 6) @ weights["g"] + WEIGHTS["b"]
    return y


def rebuilt(path: Path) -> tuple[ort.InferenceSession, onnx.ModelProto, Rebuilt]:
    model = ir.load(path)
    counts = dequantize(model)
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    return ort.InferenceSession(proto.SerializeToString()), proto, counts


@pytest.mark.parametrize(
    ("opset", "options"),
    [
        *((opset, {}) for opset in (11, 13, 18, 21)),
        (11, {"signed": False}),
        (13, {"per_channel": True}),
        (21, {"per_channel": True, "signed": False, "reduce_range": True}),
        (18, {"reduce_range": True}),
    ],
    ids=str,
)
def test_is_the_float_graph_with_the_integers_weights(
    opset: int, options: dict[str, Any], tmp_path: Path
) -> None:
    """A rebuilt graph computes in float32 with the integers' weights, and no text moves another."""
    path = quantize_dynamic(network(tmp_path, opset), tmp_path / "q.onnx", **options)
    weights = widened(path)
    weights["g"] = weights.get("g", weights.get("g_Transposed", np.zeros(0)))
    session, proto, counts = rebuilt(path)
    assert counts == Rebuilt(products=2, tables=1)
    kinds = {node.op_type for node in proto.graph.node}
    assert kinds <= {"Gather", "Tanh", "MatMul", "Reshape", "Constant", "Add"}
    (together,) = session.run(None, {"ids": IDS})
    np.testing.assert_allclose(together, formula(weights, IDS), rtol=0, atol=5e-6)
    alone = np.concatenate([session.run(None, {"ids": IDS[row : row + 1]})[0] for row in (0, 1)])
    assert np.abs(together - alone).max() < 1e-6
    dynamic = ort.InferenceSession(path.read_bytes()).run(None, {"ids": IDS})[0]
    # The distance depends on the processor: without VNNI, sums of two products saturate.
    assert np.abs(dynamic - together).max() > 1e-4


def graph(body: str, *initializers: tuple[str, Any]) -> ir.Model:
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
        network (float[rows, 8] x) => (float[rows, 6] y) {{{body}}}
    """)
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in initializers
    )
    return ir.from_proto(model)


INTEGERS = RANDOM.integers(-128, 128, (8, 6)).astype(np.int8)
SCALES = RANDOM.uniform(0.01, 0.02, 6).astype(np.float32)
ZEROS = RANDOM.integers(-9, 9, 6).astype(np.int8)
BIAS = RANDOM.normal(size=6).astype(np.float32)
X = RANDOM.normal(size=(5, 8)).astype(np.float32)
HELD = (("integers", INTEGERS), ("scales", SCALES))

ROUNDED = "q, s, z = DynamicQuantizeLinear (x)"
FUSED = {
    "one operator": """
        y = com.microsoft.DynamicQuantizeMatMul (x, integers, scales, zeros, bias)
    """,
    "to float": f"""
        {ROUNDED} y = com.microsoft.MatMulIntegerToFloat (q, integers, s, scales, z, zeros, bias)
    """,
    "scale first": f"""
        {ROUNDED} whole = MatMulInteger (q, integers, z, zeros) wide = Cast <to = 1> (whole)
        both = Mul (scales, s) product = Mul (both, wide) y = Add (product, bias)
    """,
    "moved": f"""
        same = Constant <value = int64[2] {{-1, 8}}> ()
        {ROUNDED} shaped = Reshape (q, same) whole = MatMulInteger (shaped, integers, z, zeros)
        wide = Cast <to = 1> (whole) both = Mul (s, scales) product = Mul (wide, both)
        y = Add (product, bias)
    """,
    "both sides computed": f"""
        turned = Transpose (x) {ROUNDED} p, t, u = DynamicQuantizeLinear (turned)
        whole = MatMulInteger (q, p, z, u) wide = Cast <to = 1> (whole)
        both = Mul (s, t) y = Mul (wide, both)
    """,
}


@pytest.mark.parametrize("name", FUSED)
def test_spellings(name: str) -> None:
    """Optimizers write quantized products in several ways, and all of them are recognised.

    Those of two activations, too, which older tools quantized.
    """
    computed = name == "both sides computed"
    held = () if computed else (("zeros", ZEROS), ("bias", BIAS), *HELD)
    model = graph(FUSED[name], *held)
    assert dequantize(model) == Rebuilt(products=1, tables=0)
    weight = (INTEGERS.astype(np.int32) - ZEROS) * SCALES.astype(np.float64)
    expected = X @ X.T if computed else X @ weight + BIAS
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
    np.testing.assert_allclose(session.run(None, {"x": X})[0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        (f"{ROUNDED} w = Cast <to = 1> (q) y = Mul (w, s)", "Cast"),
        (
            f"{ROUNDED} a = MatMulInteger (q, integers, z) w = Cast <to = 1> (a) y = Mul (w, s)",
            "MatMulInteger",
        ),
        (
            f"""
            {ROUNDED} r, t, u = DynamicQuantizeLinear (x) whole = MatMulInteger (q, integers, u)
            wide = Cast <to = 1> (whole) both = Mul (s, scales) y = Mul (wide, both)
            """,
            "MatMulInteger",
        ),
    ],
    ids=["no product", "no scale", "another's zero"],
)
def test_names_what_it_does_not_know(body: str, operator: str) -> None:
    named = rf"\({operator}\) computes with integers in a way that is not known; give the float32"
    with pytest.raises(ValueError, match=named):
        dequantize(graph(body, *HELD))
