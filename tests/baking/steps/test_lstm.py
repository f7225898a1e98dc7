"""The LSTM over token embeddings against the cell's formula, and under padding."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from models.formulas.network_numpy import draw, lstm, lstm_shapes
from models.parts.tiny_state import state
from polybake.errors import InputError
from polybake.steps import Lstm

X = np.random.default_rng(5).normal(size=(4, 6, 7)).astype(np.float32)
LENGTHS = np.array([6, 2, 1, 0])
MASK = (np.arange(6) < LENGTHS[:, None]).astype(np.int64)


def step(layers: int = 2, bidirectional: bool = True, **changes: object) -> Lstm:
    weights = draw(lstm_shapes("", 7, 5, layers, bidirectional=bidirectional))
    fields = {"hidden": 5, "layers": layers, "bidirectional": bidirectional, "weights": weights}
    return Lstm(**fields | changes)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_gives_each_text_what_it_has_alone(run_step, layers: int, bidirectional: bool) -> None:
    """Each text is run to its own end and back, and its padding gets zeros."""
    one = step(layers, bidirectional)
    expected = np.zeros((4, 6, 10 if bidirectional else 5))
    for row, length in enumerate(LENGTHS):
        expected[row, :length] = lstm(X[row, :length], one.weights)
    graph = run_step(one, X, MASK)
    assert graph.shape == expected.shape
    np.testing.assert_allclose(graph, expected, atol=1e-6)
    np.testing.assert_allclose(one.numpy(state(X.astype(np.float64), MASK)).x, expected, atol=1e-7)


def test_at_every_opset(run_step, opset: int) -> None:
    """The graph of every opset agrees with the NumPy form."""
    found = run_step(step(), X, MASK, opset)
    np.testing.assert_allclose(found, step().numpy(state(X.astype(np.float64), MASK)).x, atol=1e-6)


def test_names_weights_that_do_not_fit(run_step) -> None:
    """Weights of other settings are an error with the name and both shapes."""
    with pytest.raises(InputError, match=r"bias_hh_l0 has shape \[20\], expected \[24\]"):
        run_step(step(hidden=6), X, MASK)
    with pytest.raises(InputError, match=r"bias_hh_l1 has shape \[20\], expected none"):
        run_step(step(layers=1, weights=step().weights), X, MASK)


@pytest.mark.parametrize("changes", [{"hidden": None}, {"layers": 10**9}, {"bidirectional": 7}])
def test_refuses_wrong_settings(changes: dict[str, object]) -> None:
    """Settings that no module has are refused before anything is built."""
    fields = {"hidden": 5, "layers": 2, "bidirectional": True, "weights": {}}
    with pytest.raises(ValidationError, match=next(iter(changes))):
        Lstm(**fields | changes)


def test_reads_as_in_the_manifest() -> None:
    """The step shows its sizes and no weights."""
    assert str(step()) == "lstm(hidden=5, layers=2, bidirectional=True)"
