"""Steps that make of each vector another, against their formulas."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnxscript import GraphBuilder, ir
from pydantic import ValidationError

from models.parts.tiny_state import state
from polybake.steps import (
    Activation,
    Dense,
    Dropout,
    KeepLargest,
    LayerNorm,
    Normalize,
    Pca,
    RemoveComponents,
    Scale,
    Select,
    Step,
    Subtract,
    Truncate,
    Whiten,
)

RANDOM = np.random.default_rng(8)
SIZE = 7
MEAN, BIAS = RANDOM.normal(size=(2, SIZE)).astype(np.float32)
WIDE, SQUARE = (RANDOM.normal(size=(out, SIZE)).astype(np.float32) for out in (5, SIZE))
PROJECTION = RANDOM.normal(size=(5, SIZE)).astype(np.float32)
DIRECTIONS = np.linalg.qr(RANDOM.normal(size=(SIZE, 2)))[0].T.astype(np.float32)

Row = list[float]
Formula = Callable[[Row], Sequence[float]]

ACTIVATIONS: dict[str, Callable[[float], float]] = {
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


def linear(weight: np.ndarray, bias: np.ndarray | float = 0.0) -> Formula:
    return lambda x: list(weight.astype(np.float64) @ x + bias)


def dense(activation: str, bias: np.ndarray | float = 0.0) -> Formula:
    return lambda x: [ACTIVATIONS[activation](one) for one in linear(WIDE, bias)(x)]


def unit(x: Sequence[float]) -> Row:
    length = math.sqrt(math.fsum(one * one for one in x))
    return [one / max(length, 1e-12) for one in x]


def softmax(x: Row) -> Row:
    powers = [math.exp(one - max(x)) for one in x]
    return [power / math.fsum(powers) for power in powers]


def normal(epsilon: float) -> Callable[[Row], np.ndarray]:
    def formula(x: Row) -> np.ndarray:
        deviation = math.sqrt(statistics.pvariance(x) + epsilon)
        return (np.array(x) - statistics.fmean(x)) / deviation

    return formula


def without_directions(x: Row) -> Sequence[float]:
    rest = np.array(x) - MEAN
    for row in DIRECTIONS.astype(np.float64):
        rest = rest - sum(rest * row) * row
    return list(rest)


def largest(x: Row) -> Row:
    kept = sorted(range(SIZE), key=lambda place: (-abs(x[place]), place))[:2]
    return [one if place in kept else 0.0 for place, one in enumerate(x)]


#: Each step as the manifest shows it, and what it makes of a vector.
STEPS: dict[str, tuple[Step, Formula]] = {
    "activation(function=softmax)": (Activation(function="softmax"), softmax),
    "activation(function=sigmoid)": (
        Activation(function="sigmoid"),
        lambda x: [*map(ACTIVATIONS["sigmoid"], x)],
    ),
    **{
        f"dense(weight=5x7, bias=5, activation={name})": (
            Dense(weight=WIDE, bias=BIAS[:5], activation=name),
            dense(name, BIAS[:5]),
        )
        for name in ACTIVATIONS
    },
    "dense(weight=5x7, activation=tanh)": (Dense(weight=WIDE), dense("tanh")),
    "dense(weight=7x7, activation=tanh, residual=identity)": (
        Dense(weight=SQUARE, residual="identity"),
        lambda x: np.tanh(linear(SQUARE)(x)) + x,
    ),
    "dense(weight=5x7, activation=tanh, residual=projection, residual_weight=5x7)": (
        Dense(weight=WIDE, residual="projection", residual_weight=PROJECTION),
        lambda x: np.add(dense("tanh")(x), linear(PROJECTION)(x)),
    ),
    "keep_largest(count=2)": (KeepLargest(count=2), largest),
    "layer_norm(eps=0.01)": (LayerNorm(eps=0.01), normal(0.01)),
    "layer_norm(weight=7, bias=7, eps=1e-05)": (
        LayerNorm(weight=MEAN, bias=BIAS),
        lambda x: normal(1e-5)(x) * MEAN + BIAS,
    ),
    "normalize()": (Normalize(), unit),
    "pca(mean=7, components=5x7)": (
        Pca(mean=MEAN, components=WIDE),
        lambda x: linear(WIDE)(list(np.array(x) - MEAN)),
    ),
    "remove_components(mean=7, components=2x7)": (
        RemoveComponents(mean=MEAN, components=DIRECTIONS),
        without_directions,
    ),
    "scale(factor=2.5)": (Scale(factor=2.5), lambda x: [2.5 * one for one in x]),
    "select(places=(4, 0))": (Select(places=(4, 0)), lambda x: [x[4], x[0]]),
    "subtract(vector=7)": (Subtract(vector=MEAN), lambda x: np.array(x) - MEAN),
    "truncate(dimension=4, renormalize=False)": (Truncate(dimension=4), lambda x: x[:4]),
    "truncate(dimension=4, renormalize=True)": (
        Truncate(dimension=4, renormalize=True),
        lambda x: unit(x[:4]),
    ),
    "whiten(mean=7, matrix=7x5)": (
        Whiten(mean=MEAN, matrix=WIDE.T.copy()),
        lambda x: linear(WIDE)(list(np.array(x) - MEAN)),
    ),
}


def expected(formula: Formula, x: np.ndarray) -> np.ndarray:
    """The formula of each row by itself."""
    rows = [formula(row) for row in x.reshape(-1, SIZE).astype(np.float64).tolist()]
    return np.array(rows).reshape(*x.shape[:-1], -1)


@pytest.mark.parametrize("name", STEPS)
def test_both_forms_are_the_formula(run_step, name: str, opset: int) -> None:
    """Of texts and of tokens, of short vectors and of long ones, at every opset."""
    step, formula = STEPS[name]
    assert str(step) == name
    scales = np.array([[1], [0.01], [3]])
    x = (np.random.default_rng(opset).normal(size=(2, 3, SIZE)) * scales).astype(np.float32)
    for given_x, mask in ((x, np.ones((2, 3), np.int64)), (x[0], np.ones((3, 2), np.int64))):
        wanted = expected(formula, given_x)
        assert run_step(step, given_x, mask, opset) == pytest.approx(wanted, abs=1e-5, rel=1e-4)
        found = step.numpy(state(given_x.astype(np.float64), mask)).x
        assert found == pytest.approx(wanted, abs=1e-9, rel=1e-6)


@pytest.mark.parametrize("name", STEPS)
@given(row=st.lists(st.floats(-9, 9, width=32), min_size=SIZE, max_size=SIZE))
def test_the_numpy_form_is_the_formula(name: str, row: Row) -> None:
    """Of any vector that embeddings are like."""
    step, formula = STEPS[name]
    x = np.array([row], np.float64)
    found = step.numpy(state(x, np.ones((1, 1), np.int64))).x
    assert found == pytest.approx(expected(formula, x), abs=1e-6)


@pytest.mark.parametrize(
    ("step", "x", "wanted"),
    [
        (Normalize(), [[0, 0], [3e-13, 4e-13]], [[0, 0], [0.3, 0.4]]),
        (Activation(function="softmax"), [[1000, 1000], [-1000, -1100]], [[0.5, 0.5], [1, 0]]),
        (LayerNorm(eps=0.01), [[1, 1], [0, 0]], [[0, 0], [0, 0]]),
        (KeepLargest(count=1), [[1, 1], [0, 0]], [[1, 0], [0, 0]]),
        (Truncate(dimension=2), [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
    ],
)
def test_at_its_edges(run_step, step: Step, x: list[Row], wanted: list[Row]) -> None:
    """Zeros, equal elements, and numbers whose powers no float holds."""
    given_x = np.array(x, np.float32)
    mask = np.ones((2, 1), np.int64)
    assert run_step(step, given_x, mask) == pytest.approx(np.array(wanted), abs=1e-6)
    assert step.numpy(state(given_x, mask)).x == pytest.approx(np.array(wanted), abs=1e-6)


def test_dropout_adds_no_node() -> None:
    """Neither form computes anything."""
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="step")
    builder = GraphBuilder(graph)
    fed = builder.input("x", ir.DataType.FLOAT, ["batch", 7])
    assert Dropout().onnx(builder.op, fed) is fed
    assert len(graph) == 0
    np.testing.assert_array_equal(Dropout().formula(WIDE), WIDE)
    assert str(Dropout()) == "dropout(no-op)"


@pytest.mark.parametrize(
    ("step", "parameters", "named"),
    [
        (Dense, {"weight": WIDE, "activation": "os.system"}, "unknown activation 'os.system'"),
        (Dense, {"weight": WIDE, "bias": BIAS[:4]}, "has 4 elements and the weight gives 5"),
        (Dense, {"weight": WIDE, "residual": "identity"}, "weight makes 5 elements of 7"),
        (Dense, {"weight": WIDE, "residual": "projection"}, r"must be \[5, 7\], found absent"),
        (Dense, {"weight": WIDE, "residual_weight": WIDE}, r"must be absent, found \[5, 7\]"),
        (Dropout, {"rate": 0.2}, "rate"),
        *((KeepLargest, {"count": count}, "count") for count in (0, -1, 1.5, "2")),
        (LayerNorm, {"eps": 0.0}, "eps"),
        (LayerNorm, {"weight": MEAN, "bias": BIAS[:6]}, "has 6 elements and the weight 7"),
        (Pca, {"mean": MEAN, "components": WIDE.T}, "takes 5 elements and the mean has 7"),
        (RemoveComponents, {"mean": MEAN, "components": DIRECTIONS * 1.01}, "not of length 1"),
        (RemoveComponents, {"mean": MEAN, "components": DIRECTIONS[[0, 0]]}, "right angles"),
        *((Scale, {"factor": one}, "factor") for one in (math.nan, math.inf, "2", None)),
        *((Select, {"places": one}, "places") for one in ((), (-1,), (0.5,), ("0",))),
        (Subtract, {"vector": WIDE}, r"one row of finite numbers, found shape \[5, 7\]"),
        (Subtract, {"vector": np.float32([1, np.nan])}, r"found nan at \[1\] \(1 of 2"),
        *((Truncate, {"dimension": one}, "dimension") for one in (0, 2.5, None)),
        (Truncate, {"dimension": 4, "renormalize": "no"}, "renormalize"),
        (Whiten, {"mean": MEAN, "matrix": WIDE}, "takes 5 elements and the mean has 7"),
        (Whiten, {"mean": MEAN, "matrix": np.full_like(SQUARE, -np.inf)}, r"found -inf at \[0, 0"),
    ],
)
def test_wrong_parameters_are_named(
    step: type[Step], parameters: dict[str, object], named: str
) -> None:
    """Before anything is built, by the parameter and what was expected."""
    with pytest.raises(ValidationError, match=named):
        step(**parameters)
