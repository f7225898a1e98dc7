"""A linear layer with an activation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
from polybake.steps import Dense

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(3, 7)).astype(np.float32)
WEIGHT = RANDOM.normal(size=(5, 7)).astype(np.float32)
BIAS = RANDOM.normal(size=5).astype(np.float32)
MASK = np.ones((3, 2), np.int64)

FORMULAS = {
    "identity": lambda x: x,
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "silu": lambda x: x / (1 + math.exp(-x)),
}


def expected(bias: np.ndarray | float, activation: str) -> np.ndarray:
    linear = np.einsum("bi,oi->bo", X.astype(np.float64), WEIGHT) + bias
    return np.vectorize(FORMULAS[activation])(linear)


@pytest.mark.parametrize("activation", FORMULAS)
def test_activations(run_step, activation: str) -> None:
    """Each activation is applied to x @ weight.T + bias, in both forms."""
    step = Dense(weight=WEIGHT, bias=BIAS, activation=activation)
    assert run_step(step, X, MASK) == pytest.approx(expected(BIAS, activation), abs=1e-5)
    assert step.formula(X) == pytest.approx(expected(BIAS, activation), abs=1e-5)


def test_opsets(run_step, opset: int) -> None:
    """The layer works at every opset, without a bias too."""
    step = Dense(weight=WEIGHT, activation="gelu")
    assert run_step(step, X, MASK, opset) == pytest.approx(expected(0.0, "gelu"), abs=1e-5)
    assert step.formula(X) == pytest.approx(expected(0.0, "gelu"), abs=1e-5)


def test_residual_adds_the_input(run_step, opset: int) -> None:
    """A residual of equal size adds the embedding itself, after the activation."""
    square = RANDOM.normal(size=(7, 7)).astype(np.float32)
    step = Dense(weight=square, residual="identity")
    wanted = np.tanh(np.einsum("bi,oi->bo", X.astype(np.float64), square)) + X
    assert run_step(step, X, MASK, opset) == pytest.approx(wanted, abs=1e-5)
    assert step.formula(X) == pytest.approx(wanted, abs=1e-5)


def test_residual_projects_the_input(run_step, opset: int) -> None:
    """A residual of another size adds the embedding's projection, after the activation."""
    projection = RANDOM.normal(size=(5, 7)).astype(np.float32)
    step = Dense(weight=WEIGHT, bias=BIAS, residual="projection", residual_weight=projection)
    wanted = expected(BIAS, "tanh") + np.einsum("bi,oi->bo", X.astype(np.float64), projection)
    assert run_step(step, X, MASK, opset) == pytest.approx(wanted, abs=1e-5)
    assert step.formula(X) == pytest.approx(wanted, abs=1e-5)


def test_default_activation_is_tanh() -> None:
    """A layer that names no activation applies tanh, as in sentence-transformers."""
    assert Dense(weight=WEIGHT).activation == "tanh"


def test_names_both_sizes(run_step) -> None:
    """A layer for another encoder is an error with both sizes."""
    with pytest.raises(InputError, match="weight takes 7 elements and the embedding has 6"):
        run_step(Dense(weight=WEIGHT), X[:, :6], MASK)


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"weight": WEIGHT, "activation": "os.system"}, "unknown activation 'os.system'"),
        ({"weight": BIAS}, r"weight\n.*expected rows of finite numbers, found shape \[5\]"),
        ({"weight": WEIGHT, "bias": BIAS[:4]}, r"bias\n.*has 4 elements and the weight gives 5"),
        ({"weight": WEIGHT, "residual": "identity"}, r"weight makes 5 elements of 7"),
        ({"weight": WEIGHT, "residual": "projection"}, r"must be \[5, 7\], found absent"),
        ({"weight": WEIGHT, "residual_weight": WEIGHT}, r"must be absent, found \[5, 7\]"),
        (
            {"weight": WEIGHT, "residual": "projection", "residual_weight": WEIGHT[:4]},
            r"must be \[5, 7\], found \[4, 7\]",
        ),
    ],
)
def test_refuses_wrong_parameters(parameters: dict, shown: str) -> None:
    """An unknown activation and shapes that do not fit are refused."""
    with pytest.raises(ValidationError, match=shown):
        Dense(**parameters)


def test_reads_as_in_the_manifest() -> None:
    """The step shows the shapes of its weights."""
    step = Dense(weight=WEIGHT, bias=BIAS)
    assert str(step) == "dense(weight=5x7, bias=5, activation=tanh)"
