"""The comparison: exact for ids, every row and element for vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from polybake.base.modelfile.compare import (
    compare_ids,
    compare_vectors,
    largest_difference,
    relative_difference,
)
from polybake.base.modelfile.fixture import TOLERANCES, Tolerance

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


def test_zeros_for_a_short_vector_fail() -> None:
    """All zeros fail by direction even where every element is within max_abs."""
    golden = np.full((1, 4), 9e-6, dtype=np.float32)
    difference = compare_vectors(golden, np.zeros_like(golden), CPU)
    assert difference is not None
    assert difference.message == "row 0: 1 - cosine 1 exceeds 1e-06"


def test_zero_vector_has_no_direction() -> None:
    """A golden zero row is judged by max_abs alone."""
    golden = np.zeros((1, 3), dtype=np.float32)
    near, far = golden.copy(), golden.copy()
    near[0, 0], far[0, 0] = 9e-6, 1.1e-5
    assert compare_vectors(golden, near, CPU) is None
    assert compare_vectors(golden, far, CPU) is not None


def test_long_vectors_are_judged_by_their_norm() -> None:
    """A row of norm 50 may be off by 50 times max_abs, and no more."""
    golden = (50 * unit_row(1, 2, 3, 4)).astype(np.float32)
    near, far = golden.copy(), golden.copy()
    near[0, 0] += np.float32(4e-4)
    far[0, 0] += np.float32(6e-4)
    assert compare_vectors(golden, near, CPU) is None
    difference = compare_vectors(golden, far, CPU)
    assert difference is not None
    assert difference.limit == pytest.approx(5e-4)


def test_the_worst_difference_is_named() -> None:
    """The element furthest beyond its row's limit is reported, not the largest difference."""
    golden = np.concatenate([unit_row(1, 1), 100 * unit_row(1, 1)]).astype(np.float32)
    found = golden.copy()
    found[0, 1] += np.float32(5e-5)
    found[1, 0] += np.float32(2e-3)
    difference = compare_vectors(golden, found, CPU)
    assert difference is not None
    assert (difference.row, difference.element) == (0, 1)


def test_one_row_among_many_is_seen() -> None:
    """A single different element in 200 rows of 384 fails."""
    golden = np.random.default_rng(0).standard_normal((200, 384))
    golden = (golden / np.linalg.norm(golden, axis=1, keepdims=True)).astype(np.float32)
    found = golden.copy()
    found[199, 383] += np.float32(2e-5)
    difference = compare_vectors(golden, found, CPU)
    assert difference is not None
    assert (difference.row, difference.element) == (199, 383)
    assert largest_difference(golden, found) == pytest.approx(2e-5, rel=1e-2)


LONG_ROW = np.array([[3.0, 4.0, 0.0]])
HALF = np.array([[0.0, 0.5, 0.0]])


def test_is_relative_to_the_length_of_the_row() -> None:
    """Long and short vectors are judged alike: by the expected row's norm."""
    assert np.isclose(relative_difference(LONG_ROW + HALF, LONG_ROW), 0.1)
    assert np.isclose(relative_difference((LONG_ROW + HALF) * 1e-6, LONG_ROW * 1e-6), 0.1)
    assert relative_difference(LONG_ROW, LONG_ROW) == 0.0


@pytest.mark.parametrize("size", [1, 2])
def test_scores_are_relative_to_themselves_from_1_on(size: int) -> None:
    """A score near 0 may be the difference of large numbers, so it is compared absolutely."""
    score = np.full((1, size), 1e-6)
    assert np.isclose(relative_difference(score + 1e-7, score), 1e-7)
    large = np.full((1, size), 100.0) / np.sqrt(size)
    assert np.isclose(relative_difference(large + 1.0, large), 0.01)


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e20, 1e37])
def test_no_size_of_float32_is_beyond_judging(scale: float) -> None:
    """Squares neither overflow nor vanish, so that nothing is taken for equal, or absolutely."""
    row = (LONG_ROW * scale).astype(np.float32)
    assert np.isclose(relative_difference(row * np.float32(1.1), row), 0.08, rtol=1e-5)


def test_takes_the_largest_of_all_rows() -> None:
    """One different element of one row decides."""
    expected = np.repeat(LONG_ROW, 3, axis=0)
    found = expected.copy()
    found[1, 0] -= 1.0
    assert np.isclose(relative_difference(found, expected), 0.2)


def test_a_zero_row_is_compared_absolutely() -> None:
    """The difference itself counts if the expected row is zero."""
    assert relative_difference(LONG_ROW * 0.1, LONG_ROW * 0) == 0.4


def test_probabilities_are_compared_absolutely() -> None:
    """Small probabilities are compared absolutely; arrays without rows do not differ."""
    small = np.full((1, 5), 1e-4, np.float32)
    assert np.isclose(relative_difference(small * 1.1, small, probabilities=True), 1e-5, rtol=1e-3)
    assert relative_difference(LONG_ROW[:0], LONG_ROW[:0]) == 0.0


def test_nan_is_never_small() -> None:
    """NaN on either side gives NaN, which no limit admits."""
    assert np.isnan(relative_difference(LONG_ROW * np.nan, LONG_ROW))
    assert np.isnan(relative_difference(LONG_ROW, LONG_ROW * np.nan))
