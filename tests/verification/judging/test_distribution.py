"""The number of elements at each distance from the golden ones."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.verification.judging.distribution import Differences, times_grown, upper_end
from polybake.verification.verdict import Stage


def test_every_element_is_counted_once() -> None:
    """Equal elements are counted apart, others by quarters of a decade, over several cases."""
    differences = Differences(1e-5)
    differences.add(np.array([[0.0, 2e-7], [0.0, 1e-4]]))
    differences.add(np.array([[2e-7, 0.0]]))
    found = differences.distribution(Stage.EMBED)
    assert (found.equal, found.largest) == (3, 1e-4)
    assert found.counts == ((-6, 2), (4, 1))
    for number, value in ((-6, 2e-7), (4, 1e-4)):
        low, high = upper_end(found, number - 1), upper_end(found, number)
        assert low < value <= high * (1 + 1e-12)


@pytest.mark.parametrize("limit", [1e-5, 2e-5, 2.3e-2])
def test_what_is_just_the_limit_is_within_it(limit: float) -> None:
    """A difference of just the limit passes, so only bins above 0 are failures."""
    differences = Differences(limit)
    differences.add(np.array([limit, np.nextafter(limit, 1) * (1 + 1e-9)]))
    assert differences.distribution(Stage.EMBED).counts == ((0, 1), (1, 1))


def test_growth_has_a_floor() -> None:
    """Growth is counted from a floor, so that a difference near 0 gives no huge multiple."""
    assert times_grown(1e-6, 5e-6, 1e-5) == pytest.approx(5)
    assert times_grown(0.0, 1e-7, 1e-5) == pytest.approx(1)
    assert times_grown(1e-12, 2e-6, 1e-5) == pytest.approx(20)
