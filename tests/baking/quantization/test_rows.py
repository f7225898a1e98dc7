"""Activations as integers, row by row."""

from collections.abc import Callable

import numpy as np
import onnxruntime as ort
import pytest
from onnxscript import ir

from polybake.baking.quantization.nodes import Nodes
from polybake.baking.quantization.rows import RoundedRows, round_gelu, round_symmetric

Round = Callable[[Nodes, ir.Value], RoundedRows]


def rounded(how: Round, x: np.ndarray) -> np.ndarray:
    """What the graph makes of ``x``, put together again in NumPy."""
    value = ir.val("x", ir.DataType.FLOAT, ["rows", x.shape[1]])
    graph = ir.Graph([value], [], nodes=[], opset_imports={"": 18}, name="rows")
    end = ir.node("Identity", [value])
    graph.append(end)
    found = how(Nodes(graph, end), value)
    parts = [found.integers, found.range]
    for number, part in enumerate(parts):
        part.name = f"part{number}"
        part.dtype = ir.DataType.FLOAT if number else ir.DataType.UINT8
    graph.outputs.extend(parts)
    model = ir.to_proto(ir.Model(graph, ir_version=8)).SerializeToString()
    integers, largest = ort.InferenceSession(model).run(None, {"x": x})
    assert found.zero.const_value is not None
    zero = int(found.zero.const_value.numpy())
    return np.asarray((integers.astype(float) - zero) * largest / found.steps)


def gelu(x: np.ndarray) -> np.ndarray:
    from math import erf

    return np.vectorize(lambda one: one * (1 + erf(one / np.sqrt(2))) / 2)(x).astype(np.float32)


@pytest.mark.parametrize("how", [round_symmetric, round_gelu])
def test_each_row_is_rounded_by_its_own_range(how: Round) -> None:
    """A row is off by half a step of its own range at most, whatever the other rows hold."""
    x = np.random.default_rng(0).normal(size=(6, 50)).astype(np.float32)
    x *= np.array([[0.001], [1], [30], [1000], [1], [5]], np.float32)
    if how is round_gelu:
        x = gelu(x)
    largest = np.abs(x).max(axis=1) if how is round_symmetric else np.maximum(x.max(axis=1), 0.92)
    steps = 127 if how is round_symmetric else 215
    assert (np.abs(rounded(how, x) - x).max(axis=1) <= 0.502 * largest / steps).all()
    assert rounded(how, x)[2] == pytest.approx(rounded(how, x[2:3])[0], abs=0)


@pytest.mark.parametrize("how", [round_symmetric, round_gelu])
def test_a_row_of_zeros_stays(how: Round) -> None:
    np.testing.assert_array_equal(rounded(how, np.zeros((1, 4), np.float32)), np.zeros((1, 4)))
