"""The places of a histogram's bars."""

from __future__ import annotations

import pytest

from polybake.verification.judging.distribution import Distribution
from polybake.verification.reporting.histogram import Axis
from polybake.verification.verdict import Stage


def distribution(counts: tuple[tuple[int, int], ...], limit: float | None, largest: float):
    return Distribution(Stage.EMBED, limit, largest, 10, counts)


def test_bars_beyond_the_limit_stand_behind_its_line() -> None:
    """Bars within the limit stand before its line, whatever the limit."""
    for limit in (1e-5, 2e-5, 2.3e-2):
        group = [distribution(((-9, 3), (0, 2), (1, 1)), limit, limit * 1.7)]
        drawn = Axis.of([group]).histogram(group)
        assert drawn.limit is not None
        within = [bar for bar in drawn.bars if not bar.beyond]
        (beyond,) = [bar for bar in drawn.bars if bar.beyond]
        assert beyond.left == pytest.approx(drawn.limit)
        assert all(bar.left + bar.width <= drawn.limit + 0.01 for bar in within)


def test_clients_share_an_axis() -> None:
    """Equal differences stand at one place, even if the limits differ."""
    cpu = [distribution(((0, 1),), 1e-5, 1e-5)]
    cuda = [distribution(((-4, 1),), 1e-4, 1e-5)]
    axis = Axis.of([cpu, cuda])
    assert axis.histogram(cpu).bars[1].left == pytest.approx(axis.histogram(cuda).bars[1].left)
    assert axis.histogram(cpu).limit != axis.histogram(cuda).limit


def test_what_is_too_small_for_the_axis_is_added_up() -> None:
    """No element is lost: bars say all that was counted, and lie within the picture."""
    group = [distribution(((-160, 4), (-150, 5), (-3, 1)), 1e-5, 2e-6)]
    bars = Axis.of([group]).histogram(group).bars
    assert [bar.title.split()[0] for bar in bars] == ["10", "9", "1"]
    assert all(bar.left >= 0 and bar.width > 0 and bar.left + bar.width <= 100.01 for bar in bars)


def test_any_number_has_a_place_that_is_seen() -> None:
    """The largest float32 leaves the axis readable, and a single element has a visible height."""
    group = [distribution(((-3, 1_000_000), (174, 1)), 1e-5, 3.4e38)]
    axis = Axis.of([group])
    assert len(axis.ticks) <= 14
    bars = axis.histogram(group).bars
    assert bars[-1].beyond
    assert bars[-1].width > 0
    heights = [bar.height for bar in bars]
    assert (max(heights), min(heights) >= 8) == (100, True)


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
