"""The CNN over token embeddings against its formula, and under padding."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from models.formulas.network_numpy import convolution, draw
from models.parts.tiny_state import state
from polybake.errors import InputError
from polybake.steps import Cnn

X = np.random.default_rng(5).normal(size=(3, 6, 7)).astype(np.float32)
LENGTHS = np.array([6, 2, 0])
MASK = (np.arange(6) < LENGTHS[:, None]).astype(np.int64)

SIZES = (3, 1, 5)
SHAPES = {f"convs.{n}.weight": (4, 7, size) for n, size in enumerate(SIZES)}
WEIGHTS = draw(SHAPES | {f"convs.{n}.bias": (4,) for n in range(len(SIZES))})
STEP = Cnn(channels=4, kernel_sizes=SIZES, weights=WEIGHTS)


def alone(row: int) -> np.ndarray:
    """What one text gives without padding: ``[tokens, channels]``."""
    tokens = X[row : row + 1, : LENGTHS[row]].transpose(0, 2, 1).astype(np.float64)
    parts = [
        convolution(tokens, WEIGHTS[f"convs.{n}.weight"], size // 2)[0].T
        + WEIGHTS[f"convs.{n}.bias"]
        for n, size in enumerate(SIZES)
    ]
    return np.concatenate(parts, axis=-1)


def test_gives_each_text_what_it_has_alone(run_step, opset: int) -> None:
    """Padding counts as zeros, so that a text in a batch is the text alone, at every opset."""
    graph = run_step(STEP, X, MASK, opset)
    formula = STEP.numpy(state(X.astype(np.float64), MASK)).x
    assert graph.shape == formula.shape == (3, 6, 12)
    for row in (0, 1):
        expected = alone(row)
        np.testing.assert_allclose(graph[row, : LENGTHS[row]], expected, atol=1e-5)
        np.testing.assert_allclose(formula[row, : LENGTHS[row]], expected, atol=1e-12)


def test_left_padding_counts_as_zeros_too(run_step) -> None:
    """A text keeps its vectors wherever its padding stands."""
    right, left = X[1:2].copy(), np.roll(X[1:2], 4, axis=1)
    found = run_step(STEP, left, np.roll(MASK[1:2], 4, axis=1))
    np.testing.assert_allclose(found[:, 4:], run_step(STEP, right, MASK[1:2])[:, :2], atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "shown"),
    [
        ({"convs.0.bias": np.ones(5, np.float32)}, r"convs\.0\.bias has shape \[5\], expected \[4"),
        (
            {"convs.1.weight": np.ones((4, 6, 1), np.float32)},
            r"convs\.1\.weight has shape \[4, 6, 1\], expected \[4, 7, 1\]",
        ),
        ({"convs.3.bias": np.ones(4, np.float32)}, r"convs\.3\.bias has shape .* expected none"),
    ],
)
def test_names_weights_that_do_not_fit(run_step, weights: dict, shown: str) -> None:
    """Weights of another module are an error with the name and both shapes."""
    with pytest.raises(InputError, match=shown):
        run_step(STEP.model_copy(update={"weights": WEIGHTS | weights}), X, MASK)


@pytest.mark.parametrize("size", [0, 2, -3])
def test_refuses_kernels_without_a_middle(size: int) -> None:
    """An even kernel would move tokens between places."""
    with pytest.raises(
        ValidationError, match=f"kernel size {size}, expected an odd number above 0"
    ):
        Cnn(channels=4, kernel_sizes=(1, size), weights={})


def test_reads_as_in_the_manifest() -> None:
    """The step shows its sizes and no weights."""
    assert str(STEP) == "cnn(channels=4, kernel_sizes=3+1+5)"
