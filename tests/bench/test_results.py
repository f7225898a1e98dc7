"""Medians, ratios and spreads of a comparison."""

from __future__ import annotations

import pytest
import results

from support.samples.comparison import FOUND


def test_rate_is_texts_by_the_median_call() -> None:
    """The slowest round changes nothing."""
    assert results.rate(FOUND, FOUND["peers"][0], "short") == 1000 / 2


def test_ratio_above_one_is_faster_than_the_first_row() -> None:
    """Half the seconds are twice the speed."""
    assert results.ratio(FOUND, FOUND["peers"][1], "short") == 2
    assert results.ratio(FOUND, FOUND["peers"][0], "long") == 1


def test_spread_is_half_the_range() -> None:
    """Rounds of 1, 2 and 6 seconds lie 2.5 seconds around, 125 % of the median."""
    assert results.spread(FOUND["peers"][0], "short") == pytest.approx(1.25)


def test_rows_without_times_are_left_out() -> None:
    """A row without times has a reason instead."""
    assert [row["title"] for row in results.timed(FOUND)] == ["polybake", "other"]
    assert [row["title"] for row in results.left_out(FOUND)] == ["refused"]
