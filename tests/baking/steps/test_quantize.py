"""Quantization by independent formulas: integers by ranges, and bits in bytes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pydantic import ValidationError

from polybake.errors import InputError
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


def test_what_is_constant_is_the_lowest_step(run_step) -> None:
    """A range of width 0 divides by no zero: its value is level 0, and so is what lies below."""
    step = Quantize(precision="uint8", ranges=np.full((2, 3), 0.5, np.float32))
    x = np.array([[0.5, 0.4, 2.6]], np.float32)
    for found in (run_step(step, x, MASK), step.formula(x)):
        assert found.tolist() == [[0, 0, 2]]


def test_zero_is_no_set_bit(run_step) -> None:
    """A bit is set above 0 alone."""
    x = np.array([[0.0, -0.0, 1e-30, -1e-30, 1.0, 0.0, 0.0, 2.0]], np.float32)
    for found in (
        run_step(Quantize(precision="ubinary"), x, MASK),
        Quantize(precision="ubinary").formula(x),
    ):
        assert found.tolist() == [[0b00101001]]


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"precision": "uint8", "function": "tanh"}, "tanh goes with precision int8 and without r"),
        ({"precision": "int8", "function": "tanh", "ranges": RANGES}, "and without ranges"),
        ({"precision": "int4"}, "'int8', 'uint8', 'binary' or 'ubinary'"),
        ({"precision": "int8"}, "int8 needs ranges; write ranges.npy with: polybake fit --ranges"),
        ({"precision": "binary", "ranges": RANGES}, "binary takes no ranges; drop them"),
        ({"precision": "int8", "ranges": RANGES[:1]}, r"found shape \[1, 16\]"),
        ({"precision": "int8", "ranges": RANGES[:1]}, "a row of smallest and a row of largest"),
        (
            {"precision": "int8", "ranges": np.float32([[0, 2, 3], [1, 1, 1]])},
            "the range of dimension 1 begins at 2 and ends at 1; put the smallest",
        ),
        ({"precision": "int8", "ranges": RANGES * np.inf}, "finite"),
    ],
)
def test_refuses_wrong_parameters(parameters: dict[str, object], says: str) -> None:
    """An unknown precision, and ranges that are missing, too many or turned round, are named."""
    with pytest.raises(ValidationError, match=says):
        Quantize(**parameters)


def test_names_both_sizes(run_step) -> None:
    """Ranges of another embedding are an error with both numbers."""
    with pytest.raises(InputError, match=r"a row of the ranges takes 16 elements .* has 12"):
        run_step(Quantize(precision="int8", ranges=RANGES), X[:, :12], MASK)


def test_bits_fill_their_bytes(run_step) -> None:
    """A dimension that is no multiple of eight is refused with what to cut it to."""
    with pytest.raises(InputError, match=r'has 12; .* step = "truncate", dimension = 8'):
        run_step(Quantize(precision="ubinary"), X[:, :12], MASK)


def test_takes_vectors_only(run_step) -> None:
    """Token embeddings are refused: only vectors of texts are quantized."""
    with pytest.raises(InputError, match="put it after a step that pools"):
        run_step(Quantize(precision="ubinary"), np.stack([X, X]), np.ones((2, 5), np.int64))


def test_reads_as_in_the_manifest() -> None:
    """The step shows its precision and the size of its ranges."""
    shown = str(Quantize(precision="int8", ranges=RANGES))
    assert shown == "quantize(precision=int8, ranges=2x16)"
    assert str(Quantize(precision="binary")) == "quantize(precision=binary)"
