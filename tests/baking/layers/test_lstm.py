"""LSTM layers against the cell's formula, over sequences of different lengths."""

from __future__ import annotations

import numpy as np
import pytest
from onnxscript import OpBuilder, ir

from models.formulas.network_numpy import draw, lstm, lstm_shapes
from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.lstm import LstmLayers

X = np.random.default_rng(4).normal(size=(4, 6, 3)).astype(np.float32)
LENGTHS = np.array([6, 2, 1, 0])


def run(layers: int, bidirectional: bool, x: np.ndarray = X) -> np.ndarray:
    module = LstmLayers(3, 5, layers, bidirectional=bidirectional)
    weights = draw(lstm_shapes("", 3, 5, layers, bidirectional=bidirectional))
    module.load_state_dict({name: ir.tensor(array) for name, array in weights.items()})

    def build(op: OpBuilder, x: ir.Value, lengths: ir.Value) -> ir.Value:
        return module(op, x, lengths)

    found: np.ndarray = run_graph(build, x=x, lengths=LENGTHS)
    return found


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_is_the_formula_of_each_sequence(layers: int, bidirectional: bool) -> None:
    """Each sequence is run as if it stood alone, and zeros stand behind it, also for length 0."""
    weights = draw(lstm_shapes("", 3, 5, layers, bidirectional=bidirectional))
    expected = np.zeros((4, 6, 10 if bidirectional else 5))
    for row, length in enumerate(LENGTHS):
        expected[row, :length] = lstm(X[row, :length], weights)
    found = run(layers, bidirectional)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_padding_is_not_read() -> None:
    """Whatever stands behind the lengths changes nothing, backwards too."""
    noise = np.where(np.arange(6)[:, None] < LENGTHS[:, None, None], X, 1e3).astype(np.float32)
    assert (run(2, True, noise) == run(2, True)).all()
