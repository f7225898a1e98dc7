"""Quantization by independent formulas: integers by ranges, and bits in bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from polybake.steps import Quantize

X = np.random.default_rng(21).normal(size=(5, 16)).astype(np.float32)
RANGES = np.stack([np.linspace(-1, -0.2, 16), np.linspace(0.1, 2, 16)]).astype(np.float32)
MASK = np.ones((5, 2), np.int64)


def level(x: float, low: float, high: float) -> int:
    """The step that a value lies in, of 256 between the range's ends, by exact arithmetic."""
    place = (x - low) / ((high - low) / 255)
    assert abs(place - round(place)) > 1e-4, "the value must not lie at an edge"
    return min(max(math.floor(place), 0), 255)


LEVELS = np.array(
    [[level(*triple) for triple in zip(row, *RANGES.tolist(), strict=True)] for row in X.tolist()]
)
BITS = np.array(
    [
        [int("".join(str(int(x > 0)) for x in row[start : start + 8]), 2) for start in (0, 8)]
        for row in X.tolist()
    ]
)


@pytest.mark.parametrize(
    ("step", "expected", "dtype"),
    [
        (Quantize(precision="uint8", ranges=RANGES), LEVELS, np.uint8),
        (Quantize(precision="int8", ranges=RANGES), LEVELS - 128, np.int8),
        (Quantize(precision="ubinary"), BITS, np.uint8),
        (Quantize(precision="binary"), BITS - 128, np.int8),
    ],
    ids=lambda value: value.precision if isinstance(value, Quantize) else "",
)
def test_gives_the_formula(run_step, opset: int, step: Quantize, expected, dtype) -> None:
    """Graph and NumPy give what the formula says, exactly, at every opset."""
    assert {0, 255} <= set(LEVELS.flat), "values beyond a range take part"
    for found in (run_step(step, X, MASK, opset), step.formula(X.astype(np.float64))):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)


def test_tanh(run_step, opset: int) -> None:
    """127 times the tangens, rounded; where it lies between two integers the even one counts."""
    step = Quantize(precision="int8", function="tanh")
    x = np.concatenate([X, 4 * X, np.zeros((1, 16), np.float32)])
    expected = [[round(127 * math.tanh(one)) for one in row] for row in x.tolist()]
    for found in (run_step(step, x, np.ones((11, 2), np.int64), opset), step.formula(x)):
        assert found.dtype == np.int8
        np.testing.assert_array_equal(found, expected)
    assert {-127, 0, 127} <= {*np.ravel(expected).tolist()}
    assert str(step) == "quantize(precision=int8, function=tanh)"


def test_reads_as_in_the_manifest() -> None:
    """The step shows its precision and the size of its ranges."""
    shown = str(Quantize(precision="int8", ranges=RANGES))
    assert shown == "quantize(precision=int8, ranges=2x16)"
    assert str(Quantize(precision="binary")) == "quantize(precision=binary)"


@pytest.mark.parametrize(
    ("step", "row", "expected"),
    [
        # A range of width 0 divides by no zero: its value is level 0, and so is what lies below.
        (
            Quantize(precision="uint8", ranges=np.full((2, 3), 0.5, np.float32)),
            [0.5, 0.4, 2.6],
            [0, 0, 2],
        ),
        # A bit is set above 0 alone.
        (
            Quantize(precision="ubinary"),
            [0.0, -0.0, 1e-30, -1e-30, 1.0, 0.0, 0.0, 2.0],
            [0b00101001],
        ),
    ],
    ids=["constant", "zero"],
)
def test_at_an_edge(run_step, step: Quantize, row: list[float], expected: list[int]) -> None:
    x = np.float32([row])
    for found in (run_step(step, x, MASK), step.formula(x)):
        assert found.tolist() == [expected]
