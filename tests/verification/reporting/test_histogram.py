"""The places of a histogram's bars."""

from __future__ import annotations

import pytest

from polybake.verification.judging.distribution import Distribution
from polybake.verification.reporting.histogram import Axis
from polybake.verification.verdict import Stage


def distribution(counts: tuple[tuple[int, int], ...], limit: float | None, largest: float):
    return Distribution(Stage.EMBED, limit, largest, 10, counts)


@pytest.mark.parametrize("limit", [1e-5, 2e-5, 2.3e-2])
def test_bars_beyond_the_limit_stand_behind_its_line(limit: float) -> None:
    """Bars within the limit stand before its line, and a single element has a visible height."""
    group = [distribution(((-9, 3), (0, 1_000_000), (1, 1)), limit, limit * 1.7)]
    drawn = Axis.of([group]).histogram(group)
    assert drawn.limit is not None
    *within, beyond = drawn.bars
    assert [bar.beyond for bar in drawn.bars] == [*(False for _ in within), True]
    assert beyond.left == pytest.approx(drawn.limit)
    assert all(bar.left + bar.width <= drawn.limit + 0.01 for bar in within)
    assert min(bar.height for bar in drawn.bars) >= 8


def test_any_number_has_a_place() -> None:
    """Bars say all that was counted, and lie within the picture; the axis is readable."""
    group = [distribution(((-160, 4), (-150, 5), (-3, 1), (174, 1)), 1e-5, 3.4e38)]
    axis = Axis.of([group])
    bars = axis.histogram(group).bars
    assert len(axis.ticks) <= 14
    assert [bar.title.split()[0] for bar in bars] == ["10", "9", "1", "1"]
    assert all(bar.left >= 0 and bar.width > 0 and bar.left + bar.width <= 100.01 for bar in bars)


@pytest.mark.parametrize("counts", [(), ((0, 3), (2, 1))])
def test_integers_have_steps_and_no_line(counts: tuple[tuple[int, int], ...]) -> None:
    """Each element has its own slack; a client that is right has no difference at all."""
    group = [distribution(counts, None, 3.0 if counts else 0.0)]
    axis = Axis.of([group])
    drawn = axis.histogram(group)
    assert drawn.limit is None
    assert not any(bar.beyond for bar in drawn.bars)
    assert len(drawn.bars) == 1 + len(counts)
    assert len(axis.ticks) >= 2
