"""Positions of tokens and distances between them, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.positions import (
    log_buckets,
    positions_after_padding,
    relative_buckets,
    slopes,
)
from polybake.baking.layers.rotary import frequencies

IDS = np.array([[7, 8, 1, 9], [7, 9, 1, 1], [1, 1, 7, 8]])


def test_padding_is_not_counted() -> None:
    """Counting begins after the padding id, and padding keeps that id, wherever it stands."""
    found = run_graph(lambda op, ids: positions_after_padding(op, ids, 1), ids=IDS)
    assert found.tolist() == [[2, 3, 1, 4], [2, 3, 1, 1], [1, 1, 2, 3]]


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (1, [2**-8]),
        (2, [2**-4, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (8, [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8]),
        (12, [2.0**-n for n in (1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5)]),
    ],
)
def test_alibis_slopes_are_the_papers(heads: int, expected: list[float]) -> None:
    """Powers of 2 ** (-8 / n), and for other numbers of heads some of twice as many."""
    assert slopes(heads) == expected


@pytest.mark.parametrize("ntk", [1.0, 8.0])
@pytest.mark.parametrize("theta", [1_000.0, 160_000.0])
@pytest.mark.parametrize("size", [6, 64, 128])
def test_frequencies_fall_by_powers_of_theta(size: int, theta: float, ntk: float) -> None:
    """As float32 has them; NTK scaling stretches all of them, and a base times the factor."""
    found = frequencies(size, theta, ntk=ntk)
    pairs = np.arange(size // 2) / (size // 2)
    expected = ntk ** (-2 / size) * (theta * ntk) ** -pairs
    np.testing.assert_allclose(found, expected, rtol=5e-7)
    assert found == tuple(float(np.float32(value)) for value in found)


def test_t5s_buckets() -> None:
    """Exact up to 7, then half an octave each, and one beyond 90; few buckets have few near ones.

    MPNet has the same.
    """
    after = relative_buckets(32, 128)[128:]
    first = [int(np.argmax(after == bucket)) for bucket in range(17, 32)]
    assert first == [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    assert after[-1] == 31
    assert relative_buckets(8, 5).tolist() == [3, 3, 2, 2, 1, 0, 5, 6, 6, 7, 7]


def test_debertas_rows_widen_with_the_distance() -> None:
    """Near keys have their own, and without buckets all do, up to the last one."""
    found = log_buckets(7, buckets=4, furthest=40, span=4).tolist()
    assert found == [7, 7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1]
    # Of 8 rows a side, the last three end at 8, 16 and 32: 4 doubled each time.
    after = log_buckets(40, buckets=8, furthest=33, span=8)[40:]
    assert after[:5].tolist() == [8, 7, 6, 5, 4]
    assert [int((after == row).argmax()) for row in (3, 2, 1, 0)] == [5, 9, 17, 33]
    found = log_buckets(4, buckets=-1, furthest=3, span=3).tolist()
    assert found == [5, 5, 5, 4, 3, 2, 1, 0, 0]
