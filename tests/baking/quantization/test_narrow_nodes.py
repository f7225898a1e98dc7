"""The choice of narrow nodes, on graphs of a few nodes."""

import numpy as np
import onnx
import onnx.parser
import pytest
from onnxscript import ir

from polybake.baking.quantization.narrow_nodes import NarrowNodes

WEIGHT = np.zeros((128, 128), np.float32)


def narrow(body: str, **constants: object) -> list[str]:
    """The outputs of the narrow nodes of a graph in which w is a large weight."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 18]>
        network (float[rows, 128] x, bool flag) => (float y) {{{body}}}
    """)
    arrays = {"w": WEIGHT, **{name: np.float32(value) for name, value in constants.items()}}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()
    )
    found = NarrowNodes(ir.from_proto(model).graph)
    return [str(node.outputs[0].name) for node in found.nodes]


@pytest.mark.parametrize(
    ("body", "constants", "expected"),
    [
        ("a = MatMul (x, w) b = Add (a, c) y = Erf (b)", {"c": 3}, ["a", "b", "y"]),
        ("a = MatMul (x, w) y = Add (a, x)", {}, ["a"]),
        ("a = MatMul (x, w) b = MatMul (x, w) y = Mul (a, b)", {}, ["a", "b", "y"]),
        ("a = MatMul (x, w) y = Mul (a, a)", {}, ["a"]),
        ("a = MatMul (x, w) y = Add (a, c)", {"c": 1e5}, ["a"]),
        ("a = MatMul (x, w) y = Add (a, c)", {"c": -np.inf}, ["a"]),
        ("a = MatMul (x, w) y = Add (a, c)", {"c": 1e-12}, ["a"]),
        ("a = MatMul (x, w) y = Add (a, c)", {"c": [0, 0]}, ["a", "y"]),
        ("a = MatMul (x, w) y = Softmax (a)", {}, ["a"]),
        ("t = Transpose (x) y = MatMul (x, t)", {}, []),
        ("a = MatMul (x, w) t = Transpose (x) y = MatMul (a, t)", {}, ["a"]),
        (
            "a = MatMul (x, w) s = Softmax (a) t = Transpose (a) y = MatMul (s, t)",
            {},
            ["a", "t", "y"],
        ),
        ("y = MatMul (x, c)", {"c": np.zeros((128, 4))}, []),
        ("y = Gemm (x, w, x)", {}, ["y"]),
        ("a = MatMul (x, w) s = Shape (x) y = Reshape (a, s)", {}, ["a", "y"]),
        (
            """
            y = If (flag) <
                then_branch = one () => (float p) { p = MatMul (x, w) },
                else_branch = other () => (float q) { q = Identity (x) }
            >
            """,
            {},
            ["p"],
        ),
    ],
)
def test_narrow(body: str, constants: dict[str, object], expected: list[str]) -> None:
    """Products of large weights, products of two such, and what only follows them are narrow."""
    assert narrow(body, **constants) == expected


def test_steps_are_wide() -> None:
    graph = ir.from_proto(
        onnx.parser.parse_model("""
            <ir_version: 8, opset_import: ["" : 18]>
            network (float[rows, 128] x, float[128, 128] w) => (float y) { y = MatMul (x, w) }
        """)
    ).graph
    (node,) = graph
    weight = ir.Value(name="v", const_value=ir.tensor(WEIGHT), shape=ir.Shape(WEIGHT.shape))
    graph.initializers.add(weight)
    node.replace_input_with(1, weight)
    assert NarrowNodes(graph).nodes
    node.metadata_props["namespace"] = "steps.0: Dense"
    assert not NarrowNodes(graph).nodes
