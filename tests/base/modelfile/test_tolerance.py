"""The comparison: exact for ids, every row and element for vectors, slack for integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from polybake.base.modelfile.fixture import decode_slack, decode_vectors, encode_vectors
from polybake.base.modelfile.tolerance import (
    TOLERANCES,
    Slack,
    Tolerance,
    compare_ids,
    compare_vectors,
    differences,
    largest_difference,
    relative_difference,
)

CPU = TOLERANCES["cpu"]
IDS = st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=4)
SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)


def vectors(limit: float) -> st.SearchStrategy[np.ndarray]:
    """float32 rows with elements up to the limit."""
    elements = st.floats(-limit, limit, width=32)
    return hnp.arrays(np.float32, SHAPES, elements=elements)


def unit_row(*elements: float) -> np.ndarray:
    """One float32 row of norm 1."""
    row = np.array([elements], dtype=np.float64)
    return (row / np.linalg.norm(row)).astype(np.float32)


@given(IDS, IDS)
def test_ids_pass_only_when_equal(golden: list[list[int]], found: list[list[int]]) -> None:
    """Token ids differ exactly where the lists do."""
    assert (compare_ids(golden, found) is None) == (golden == found)


def test_ids_name_row_and_position() -> None:
    """The first different id is named with its row and position."""
    difference = compare_ids([[1, 2], [3, 4]], [[1, 2], [3, 5]])
    assert difference is not None
    assert (difference.row, difference.element) == (1, 1)
    assert difference.message == "row 1, position 1: id 5, expected 4"


@given(vectors(2.0))
def test_equal_vectors_pass(golden: np.ndarray) -> None:
    """Vectors pass against themselves, whatever their norm, zero included."""
    assert compare_vectors(golden, golden.copy(), CPU) is None


@given(vectors(1.0), st.data())
def test_no_element_beyond_its_limit_passes(golden: np.ndarray, data: st.DataObject) -> None:
    """One element further off than max_abs times max(1, norm) fails, and is named."""
    row = data.draw(st.integers(0, golden.shape[0] - 1))
    element = data.draw(st.integers(0, golden.shape[1] - 1))
    limit = 1e-5 * max(1.0, float(np.sqrt(np.sum(golden[row].astype(np.float64) ** 2))))
    found = golden.copy()
    found[row, element] += np.float32(data.draw(st.sampled_from([-1, 1])) * 1.2 * limit)
    assume(abs(float(found[row, element]) - float(golden[row, element])) > limit)
    difference = compare_vectors(golden, found, CPU)
    assert difference is not None
    assert (difference.row, difference.element) == (row, element)
    assert difference.difference > difference.limit == pytest.approx(limit)


@given(vectors(2.0), st.sampled_from([np.nan, np.inf, -np.inf]), st.data())
def test_no_odd_number_passes(golden: np.ndarray, odd: float, data: st.DataObject) -> None:
    """NaN and infinity fail wherever they stand, and however wide the tolerance is."""
    row = data.draw(st.integers(0, golden.shape[0] - 1))
    element = data.draw(st.integers(0, golden.shape[1] - 1))
    found = golden.copy()
    found[row, element] = odd
    difference = compare_vectors(golden, found, Tolerance(max_abs=np.inf, one_minus_cosine=2.0))
    assert difference is not None
    assert (difference.row, difference.element) == (row, element)


def test_direction_is_compared() -> None:
    """A short vector whose elements are all within max_abs fails when it points elsewhere."""
    golden = (1e-3 * unit_row(1, 2, 3, 4)).astype(np.float32)
    found = golden + np.float32(9e-6) * np.array([[1, -1, 1, -1]], dtype=np.float32)
    difference = compare_vectors(golden, found, CPU)
    assert difference is not None
    assert difference.message.startswith("row 0: 1 - cosine")
    expected = 1 - np.dot(golden[0], found[0].astype(float)) / (
        np.linalg.norm(golden.astype(float)) * np.linalg.norm(found.astype(float))
    )
    assert difference.difference == pytest.approx(expected, rel=1e-3)
    golden = np.full((1, 4), 9e-6, dtype=np.float32)
    difference = compare_vectors(golden, np.zeros_like(golden), CPU)
    assert difference is not None
    assert difference.message == "row 0: 1 - cosine 1 exceeds 1e-06"


@pytest.mark.parametrize(
    ("golden", "near", "far"),
    [
        # A zero row has no direction, and is judged by max_abs alone.
        (np.zeros((1, 4), np.float32), 9e-6, 1.1e-5),
        # A row of norm 50 may be off by 50 times max_abs, and no more.
        (50 * unit_row(1, 2, 3, 4), 4e-4, 6e-4),
    ],
    ids=["zero", "long"],
)
def test_rows_are_judged_by_their_norm(golden: np.ndarray, near: float, far: float) -> None:
    for off, passes in ((near, True), (far, False)):
        found = golden.astype(np.float32)
        found[0, 0] += np.float32(off)
        assert (compare_vectors(golden, found, CPU) is None) is passes


def test_the_worst_difference_is_named() -> None:
    """The element furthest beyond its row's limit is reported, not the largest difference."""
    golden = np.concatenate([unit_row(1, 1), 100 * unit_row(1, 1)]).astype(np.float32)
    found = golden.copy()
    found[0, 1] += np.float32(5e-5)
    found[1, 0] += np.float32(2e-3)
    difference = compare_vectors(golden, found, CPU)
    assert difference is not None
    assert (difference.row, difference.element) == (0, 1)
    assert largest_difference(golden, found) == pytest.approx(2e-3, rel=1e-2)


LONG = np.array([[3.0, 4.0, 0.0]])
HALF = np.array([[0.0, 0.5, 0.0]])
SCORE = np.full((1, 2), 1e-6)


@pytest.mark.parametrize(
    ("found", "expected", "difference"),
    [
        # By the expected row's norm, long or short, and the largest of all rows.
        (LONG + HALF, LONG, 0.1),
        ((LONG + HALF) * 1e-6, LONG * 1e-6, 0.1),
        (LONG, LONG, 0.0),
        (np.concatenate([LONG, LONG - [[1, 0, 0]], LONG]), np.repeat(LONG, 3, axis=0), 0.2),
        (LONG * 0.1, LONG * 0, 0.4),
        (LONG[:0], LONG[:0], 0.0),
        # A score near 0 may be the difference of large numbers, so it is compared absolutely.
        (SCORE + 1e-7, SCORE, 1e-7),
        (SCORE[:, :1] + 1e-7, SCORE[:, :1], 1e-7),
        (SCORE * 1e8 / np.sqrt(2) + 1.0, SCORE * 1e8 / np.sqrt(2), 0.01),
        # NaN on either side gives NaN, which no limit admits.
        (LONG * np.nan, LONG, np.nan),
        (LONG, LONG * np.nan, np.nan),
    ],
)
def test_differences_are_relative_to_the_row(
    found: np.ndarray, expected: np.ndarray, difference: float
) -> None:
    assert np.isclose(relative_difference(found, expected), difference, equal_nan=True)


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20, 1e37])
def test_no_size_of_float32_is_beyond_judging(scale: float) -> None:
    """Squares neither overflow nor vanish, so that nothing is taken for equal, or absolutely."""
    row = (LONG * scale).astype(np.float32)
    assert np.isclose(relative_difference(row * np.float32(1.1), row), 0.08, rtol=1e-5)


def test_probabilities_are_compared_absolutely() -> None:
    """Small probabilities would otherwise be judged by their own size."""
    small = np.full((1, 5), 1e-4, np.float32)
    assert np.isclose(relative_difference(small * 1.1, small, probabilities=True), 1e-5, rtol=1e-3)


GOLDEN = np.array([[-128, 5], [127, 0]], np.int8)


def test_steps_may_differ_by_their_slack() -> None:
    """An element may lie as many steps away as its slack says, to either side, and no further."""
    slack = Slack(np.array([[1, 0], [2, 0]], np.uint8), packed_bits=False)
    found = np.array([[-127, 5], [125, 0]], np.int8)
    assert not slack.exceeded(GOLDEN, found).any()
    found = np.array([[-126, 4], [124, 1]], np.int8)
    assert slack.exceeded(GOLDEN, found).all()
    assert slack.largest == 2


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bits_may_differ_where_they_are_open(dtype: type) -> None:
    """A bit may be turned where the slack has it set; every other one may not."""
    slack = Slack(np.array([[0b10000001]], np.uint8), packed_bits=True)
    golden = np.array([[0b01010101]], np.uint8)
    for turned, allowed in ((0b10000001, True), (0b10000000, True), (0b00000010, False)):
        found = golden ^ np.uint8(turned)
        exceeded = slack.exceeded(golden.view(dtype), found.view(dtype))
        assert exceeded.tolist() == [[not allowed]]
    assert slack.largest == 2


@pytest.mark.parametrize(
    ("golden", "found", "packed_bits", "apart"),
    [
        (np.int8([[-128]]), np.int8([[127]]), False, [[255.0]]),
        (np.uint8([[0, 255, 128]]), np.uint8([[128, 0, 128]]), True, [[1, 8, 0]]),
        (np.float32([[1.0]]), np.float32([[1.1]]), False, [[float(np.float32(1.1)) - 1.0]]),
    ],
    ids=["int8 does not wrap", "bits are counted", "floats are subtracted in float64"],
)
def test_how_far_elements_are_apart(
    golden: np.ndarray, found: np.ndarray, packed_bits: bool, apart: list[list[float]]
) -> None:
    assert differences(golden, found, packed_bits=packed_bits).tolist() == apart


@pytest.mark.parametrize("packed_bits", [False, True])
def test_survives_encoding(packed_bits: bool) -> None:
    """Integers and their slack come back equal."""
    slack = Slack(np.array([[1, 0], [255, 0]], np.uint8), packed_bits=packed_bits)
    encoded = encode_vectors(GOLDEN, slack)
    assert (encoded.dtype, encoded.shape) == ("int8", (2, 2))
    np.testing.assert_array_equal(decode_vectors(encoded), GOLDEN)
    assert decode_vectors(encoded).dtype == np.int8
    found = decode_slack(encoded)
    assert found is not None
    np.testing.assert_array_equal(found.values, slack.values)
    assert found.packed_bits == packed_bits
