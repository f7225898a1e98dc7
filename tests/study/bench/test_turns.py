"""Times from given samples, and the order in which things are timed."""

from __future__ import annotations

import statistics
from functools import partial

import numpy as np
import pytest

from polybake.study.bench.turns import Timing, in_turns


def test_median_and_spread_of_rounds() -> None:
    """The spread is that of the rounds, however far single calls lie apart."""
    found = Timing(seconds=((1.0, 9.0), (5.0, 7.0), (4.0, 4.0)))
    assert found.median == statistics.median([1, 9, 5, 7, 4, 4]) == 4.5
    assert found.spread == pytest.approx((6 - 4) / 4.5)
    assert found.model_dump()["median"] == 4.5


@pytest.mark.parametrize("percent", [0, 50, 90, 99, 100])
def test_percentiles_are_numpys(percent: int) -> None:
    """Percentiles are taken over the calls of all rounds, interpolated as in NumPy."""
    seconds = np.random.default_rng(1).random((5, 40))
    found = Timing(seconds=tuple(map(tuple, seconds))).percentile(percent)
    assert found == pytest.approx(np.percentile(seconds, percent))


def test_tasks_take_turns_after_a_warm_up() -> None:
    """Each call is made once a round, and the warm-up's are not kept."""
    made: list[str] = []
    told: list[str] = []
    calls = {"a": ["a1", "a2"], "b": ["b"]}
    tasks = {name: [partial(made.append, one) for one in ones] for name, ones in calls.items()}
    found = in_turns(tasks, 2, told.append)
    assert made == ["a1", "a2", "b"] * 3
    assert told == ["warm-up", "round 1 of 2", "round 2 of 2"]
    assert [len(calls) for calls in found["a"].seconds] == [2, 2]
    assert [len(calls) for calls in found["b"].seconds] == [1, 1]
