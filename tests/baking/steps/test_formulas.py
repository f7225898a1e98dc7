"""Each step against its formula, written out for one row or one text, at every opset."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnxscript import GraphBuilder, ir

from models.parts.tiny_encoders import run_graph
from models.parts.tiny_state import state
from polybake.steps import (
    Activation,
    Arrays,
    Dense,
    Dropout,
    KeepLargest,
    LayerNorm,
    LeaveOut,
    LeaveOutEnds,
    Normalize,
    Pca,
    Pool,
    RemoveComponents,
    Scale,
    Select,
    Splade,
    State,
    Step,
    Subtract,
    TiedDense,
    Truncate,
    Unpad,
    WeightedLayerPooling,
    Whiten,
)

Floats = np.ndarray
RANDOM = np.random.default_rng(8)
HIDDEN = 7
ROW, BIAS, MEAN = RANDOM.normal(size=(3, HIDDEN)).astype(np.float32)
MATRIX = RANDOM.normal(size=(5, HIDDEN)).astype(np.float32)
OTHER = RANDOM.normal(size=(5, HIDDEN)).astype(np.float32)
SQUARE = RANDOM.normal(size=(HIDDEN, HIDDEN)).astype(np.float32)
ORTHONORMAL = np.linalg.qr(RANDOM.normal(size=(HIDDEN, 2)))[0].T.astype(np.float32)

ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "identity": lambda x: x,
    "tanh": math.tanh,
    "relu": lambda x: max(x, 0.0),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    "quick_gelu": lambda x: x / (1 + math.exp(-1.702 * x)),
    "silu": lambda x: x / (1 + math.exp(-x)),
}


def unit(x: Floats) -> Floats:
    return x / max(math.sqrt(math.fsum(x * x)), 1e-12)


def normal(x: Floats, eps: float) -> Floats:
    centred = x - math.fsum(x) / len(x)
    return centred / math.sqrt(math.fsum(centred**2) / len(x) + eps)


def softmax(x: Floats) -> Floats:
    return np.array([1 / math.fsum(np.exp(x - one)) for one in x])


def largest(x: Floats, count: int) -> list[float]:
    """The elements furthest from 0, in place; among equal ones the first wins."""
    kept = sorted(range(len(x)), key=lambda place: -abs(x[place]))[:count]
    return [value if place in kept else 0.0 for place, value in enumerate(x)]


def products(matrix: Floats, x: Floats) -> Floats:
    return np.array([math.fsum(row * x) for row in matrix.astype(np.float64)])


def layer(x: Floats, bias: Floats | float = 0.0, activation: str = "tanh") -> Floats:
    return np.array([ACTIVATIONS[activation](one) for one in products(MATRIX, x) + bias])


def without(x: Floats) -> Floats:
    """The centred row without its projections."""
    left = x - MEAN
    for row in ORTHONORMAL.astype(np.float64):
        left = left - math.fsum(left * row) * row
    return left


WIDE = np.ascontiguousarray(MATRIX.T)

#: A step, and what it makes of one embedding.
POINTWISE: list[tuple[Step, Callable[[Floats], Any]]] = [
    (Dropout(), lambda x: x),
    (Normalize(), unit),
    (Scale(factor=2.5), lambda x: 2.5 * x),
    (Subtract(vector=ROW), lambda x: x - ROW),
    (Truncate(dimension=4), lambda x: x[:4]),
    (Truncate(dimension=7), lambda x: x),
    (Truncate(dimension=4, renormalize=True), lambda x: unit(x[:4])),
    (Select(places=(4, 0)), lambda x: [x[4], x[0]]),
    (KeepLargest(count=2), lambda x: largest(x, 2)),
    (LayerNorm(eps=0.01), lambda x: normal(x, 0.01)),
    (LayerNorm(weight=ROW, bias=BIAS), lambda x: normal(x, 1e-5) * ROW + BIAS),
    (Pca(mean=MEAN, components=MATRIX), lambda x: products(MATRIX, x - MEAN)),
    (Whiten(mean=MEAN, matrix=WIDE), lambda x: products(MATRIX, x - MEAN)),
    (RemoveComponents(mean=MEAN, components=ORTHONORMAL), without),
    (Activation(function="softmax"), softmax),
    (Dense(weight=MATRIX), layer),
    (Dense(weight=SQUARE, residual="identity"), lambda x: np.tanh(products(SQUARE, x)) + x),
    (
        Dense(weight=MATRIX, residual="projection", residual_weight=OTHER),
        lambda x: layer(x) + products(OTHER, x),
    ),
]
for name, one in ACTIVATIONS.items():
    dense = Dense(weight=MATRIX, bias=BIAS[:5], activation=name)
    POINTWISE += [
        (Activation(function=name), lambda x, one=one: [one(value) for value in x]),
        (dense, lambda x, name=name: layer(x, BIAS[:5], name)),
    ]


def drawn(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("step", "formula"), POINTWISE, ids=[str(one) for one, _ in POINTWISE])
@given(
    axes=st.lists(st.integers(1, 3), min_size=1, max_size=2),
    scale=st.sampled_from([1.0, 0.01, 3.0]),
    seed=st.integers(0, 99),
)
@settings(max_examples=3)
def test_maps_each_embedding(
    run_step,
    opset: int,
    step: Any,
    formula: Callable[[Floats], Any],
    axes: list[int],
    scale: float,
    seed: int,
) -> None:
    """Vectors of texts, and of tokens, each by itself."""
    x = np.float32(scale) * drawn(seed, *axes, HIDDEN)
    exact = x.astype(np.float64)
    rows = np.array([formula(row) for row in exact.reshape(-1, HIDDEN)], np.float64)
    expected = rows.reshape(*axes, -1)
    mask = np.ones((axes * 2)[:2], np.int64)
    np.testing.assert_allclose(run_step(step, x, mask, opset), expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(step.formula(exact), expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    ("step", "row", "expected"),
    [
        (Normalize(), [0.0, 0.0], [0.0, 0.0]),
        (Normalize(), [3e-13, 4e-13], [0.3, 0.4]),
        (Activation(function="softmax"), [1000, 1000, 900], [0.5, 0.5, 0]),
        (Activation(function="softmax"), [-1000] * 3, [1 / 3] * 3),
        (KeepLargest(count=2), [1, 1, 1, -1], [1, 1, 0, 0]),
        (KeepLargest(count=2), [0, 0, -0.25, 0], [0, 0, -0.25, 0]),
        (LayerNorm(), [3, 3, 3], [0, 0, 0]),
    ],
)
def test_rows_at_an_edge(run_step, step: Any, row: list[float], expected: list[float]) -> None:
    """Zeros, equal elements, and numbers whose powers are infinite."""
    x = np.float32([row])
    for found in (run_step(step, x, np.ones((1, 2), np.int64)), step.formula(x)):
        assert found == pytest.approx(np.array([expected]), abs=1e-6)


def pooled(mode: str, tokens: Floats, prompt: int = 0) -> Floats:
    """One text's vector; without a token it is zero, and cls takes a prompt if nothing else is."""
    kept = [*enumerate(tokens, 1)][prompt:]
    if not kept:
        return tokens[0] if mode == "cls" and len(tokens) else np.zeros(HIDDEN)
    places, rows = map(np.array, zip(*kept, strict=True))
    if mode in ("cls", "lasttoken"):
        return rows[0 if mode == "cls" else -1]
    if mode == "max":
        return np.array([max(element) for element in rows.T])
    factors = places if mode == "weightedmean" else np.ones_like(places)
    total = math.fsum(factors)
    if mode == "mean_sqrt_len_tokens":
        total = math.sqrt(total)
    return np.array([math.fsum(factors * element) for element in rows.T]) / total


def splade(tokens: Floats, step: Splade) -> Floats:
    if not len(tokens):
        return np.zeros(HIDDEN)
    weights = np.log1p(np.maximum(tokens, 0.0))
    weights = weights if step.activation == "relu" else np.log1p(weights)
    pool = max if step.pooling == "max" else math.fsum
    return np.array([pool(element) for element in weights.T])


def ends_left_out(tokens: Floats, first: int, last: int) -> Floats:
    return tokens[first : max(first, len(tokens) - last)]


def side_by_side(tokens: Floats, *modes: str) -> Floats:
    return np.concatenate([pooled(mode, tokens) for mode in modes])


MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
OfText = Callable[[Floats, np.ndarray, int], Floats]

#: Steps, and what they make of a text's tokens, their ids and a prompt's length: one vector, or a
#: row for each token that they keep.
OF_TEXTS: list[tuple[Sequence[Step], OfText]] = [
    ([Unpad()], lambda x, *_: x),
    ([LeaveOut(ids=(1, 3)), Unpad()], lambda x, ids, _: x[(ids != 1) & (ids != 3)]),
    ([LeaveOut(ids=(1,)), Pool(mode="mean")], lambda x, ids, _: pooled("mean", x[ids != 1])),
    ([LeaveOutEnds(first=1, last=1), Unpad()], lambda x, *_: ends_left_out(x, 1, 1)),
    ([LeaveOutEnds(last=2), Unpad()], lambda x, *_: ends_left_out(x, 0, 2)),
    ([Pool(mode=("mean", "cls"))], lambda x, *_: side_by_side(x, "mean", "cls")),
    ([Pool(mode=MODES)], lambda x, *_: side_by_side(x, *MODES)),
]
for name in MODES:
    without_prompt = Pool(mode=name, include_prompt=False)
    OF_TEXTS += [
        ([Pool(mode=name)], lambda x, *_, name=name: pooled(name, x)),
        ([without_prompt], lambda x, _, prompt, name=name: pooled(name, x, prompt)),
    ]
for one in (
    Splade(pooling=pooling, activation=activation)
    for pooling in ("max", "sum")
    for activation in ("relu", "log1p_relu")
):
    OF_TEXTS.append(([one], lambda x, *_, one=one: splade(x, one)))


@st.composite
def masks(draw: st.DrawFn) -> np.ndarray:
    """Texts of none to five tokens in one batch, padded on one side."""
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    width = max(1, *lengths, draw(st.integers(1, 5)))
    mask = (np.arange(width) < np.array(lengths)[:, None]).astype(np.int64)
    return mask[:, ::-1] if draw(st.booleans()) else mask


@pytest.mark.parametrize(
    ("steps", "formula"), OF_TEXTS, ids=[" ".join(map(str, steps)) for steps, _ in OF_TEXTS]
)
@given(mask=masks(), prompt=st.integers(0, 3), seed=st.integers(0, 99))
@settings(max_examples=6)
def test_gives_each_text_what_it_has_alone(
    run_steps,
    opset: int,
    steps: Sequence[Step],
    formula: OfText,
    mask: np.ndarray,
    prompt: int,
    seed: int,
) -> None:
    """Padding takes no part, on either side, and a text without a token has zeros or no row."""
    x = drawn(seed, *mask.shape, HIDDEN)
    ids = np.random.default_rng(seed).integers(1, 5, mask.shape) * mask
    given = State(x, ids, mask, prompt_length=np.array([prompt]))
    of_texts = [
        np.asarray(formula(row[kept].astype(np.float64), of_row[kept], prompt))
        for row, of_row, kept in zip(x, ids, mask.astype(bool), strict=True)
    ]
    expected = np.vstack(of_texts)
    np.testing.assert_allclose(run_steps(steps, given, opset), expected, rtol=1e-5, atol=2e-6)
    found: Arrays = given.becomes(x.astype(np.float64))
    for step in steps:
        found = step.numpy(found)
    np.testing.assert_allclose(found.x, expected, rtol=1e-7, atol=1e-7)
    counts = None if found.counts is None else found.counts.tolist()
    assert counts == ([*map(len, of_texts)] if isinstance(steps[-1], Unpad) else None)


TABLE = np.random.default_rng(3).normal(size=(7, 5)).astype(np.float32)
IDS = np.array([[3, 0, 6]])


@pytest.mark.parametrize(("weight", "tables"), [(TABLE, 1), (TABLE + 1, 2)], ids=["tied", "other"])
def test_a_tied_table_is_there_once(weight: np.ndarray, tables: int) -> None:
    """A weight equal to the table shares it, any other is stored itself; both compute the layer."""
    step = TiedDense(weight=weight, bias=BIAS, activation="identity")
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 18}, name="step")
    builder = GraphBuilder(graph)
    ids = builder.input("input_ids", ir.DataType.INT64, ["batch", "sequence"])
    x = builder.op.Gather(builder.op.initializer(ir.tensor(TABLE), "table"), ids)
    x.shape = ir.Shape(["batch", "sequence", 5])
    builder.add_output(step.build(builder.op, State(x, ids, ids)).x, "result")
    model = ir.to_proto(ir.Model(graph, ir_version=8))
    assert sum(list(one.dims) == [7, 5] for one in model.graph.initializer) == tables
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": IDS})
    expected = TABLE[IDS].astype(np.float64) @ weight.T + BIAS
    assert found == pytest.approx(expected, abs=1e-5)
    assert step.numpy(state(TABLE[IDS], np.ones_like(IDS))).x == pytest.approx(expected, abs=1e-5)


def test_hidden_states_are_averaged_from_the_first_one_on() -> None:
    """Each state counts by its weight, divided by the sum of the weights."""
    states = [drawn(number, 2, 3, 5) for number in range(4)]
    step = WeightedLayerPooling(weights=np.array([0.5, 2, -0.25], np.float32), layer_start=1)
    expected = (0.5 * states[1] + 2 * states[2] - 0.25 * states[3]) / 2.25
    mask = np.ones((2, 3), np.int64)
    given = State(states[3], mask, mask, hidden_states=tuple(states))
    assert step.numpy(given).x == pytest.approx(expected, abs=1e-6)

    def build(op: Any, **values: Any) -> Any:
        hidden = tuple(values.values())
        return step.build(op, State(hidden[3], None, None, hidden_states=hidden)).x

    found = run_graph(build, **{f"s{number}": one for number, one in enumerate(states)})
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (Dropout(), "dropout(no-op)"),
        (Normalize(), "normalize()"),
        (Scale(factor=127), "scale(factor=127.0)"),
        (Dense(weight=MATRIX, bias=BIAS[:5]), "dense(weight=5x7, bias=5, activation=tanh)"),
        (Pool(mode=["mean", "cls"]), "pool(mode=mean+cls)"),
        (Pool(mode="max", include_prompt=False), "pool(mode=max, include_prompt=False)"),
    ],
)
def test_reads_as_in_the_manifest(step: Step, shown: str) -> None:
    """Parameters by name, and of arrays their shapes."""
    assert str(step) == shown
