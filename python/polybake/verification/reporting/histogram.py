"""Histograms of differences: where each bar, limit and power of ten stands, in percent."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polybake.verification.judging.distribution import BINS, Distribution, upper_end

#: Decades that are shown below the smallest limit; what is smaller stands in the first bar.
_DECADES = 5

#: A wrong client may give any number.
_TICKS = 12

#: Elements without a difference stand before the axis, whose logarithm has no place for them.
_EQUAL, _FIRST = 6.0, 11.0

#: What a logarithm may be wrong by.
_EDGE = 1e-9


@dataclass(frozen=True)
class Bar:
    """Elements of one bin: its place and height in percent, and what it says."""

    left: float
    width: float
    height: float
    beyond: bool
    title: str


@dataclass(frozen=True)
class Tick:
    """A power of ten and its place in percent."""

    left: float
    exponent: int


@dataclass(frozen=True)
class Histogram:
    """One client's bars, and its limit's place; None of integers, of which each has its own."""

    bars: tuple[Bar, ...]
    limit: float | None


@dataclass(frozen=True)
class Axis:
    """The decades that all histograms of a page share: of float32 differences or of steps."""

    lowest: int
    highest: int
    tallest: int

    @classmethod
    def of(cls, groups: Iterable[Sequence[Distribution]]) -> "Axis":
        """The axis that has room for every distribution, each group being one histogram."""
        known = [list(group) for group in groups]
        every = [one for group in known for one in group]
        limits = [one.limit or 1.0 for one in every]
        largest = max([*limits, *(one.largest for one in every)])
        counts = (max([*_counts(group).values(), _equal(group)]) for group in known)
        lowest = math.floor(math.log10(min(limits)) + _EDGE) - _DECADES * bool(every[0].limit)
        return cls(lowest, math.floor(math.log10(largest) + _EDGE) + 1, max(counts))

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Every power of ten, or as many as there is room for."""
        step = math.ceil((self.highest - self.lowest) / _TICKS)
        decades = range(self.lowest, self.highest + 1, step)
        return tuple(Tick(self._left(10.0**number), number) for number in decades)

    def histogram(self, group: Sequence[Distribution]) -> Histogram:
        """Draw the distributions of one client as one; all have one limit."""
        one = group[0]
        bars = [Bar(0, _EQUAL, self._height(_equal(group)), False, f"{_equal(group):,} equal")]
        nearest = BINS * (self.lowest - math.log10(one.limit or 1.0))
        counts: Counter[int] = Counter()
        for number, count in _counts(group).items():
            counts[max(number, math.floor(nearest + _EDGE) + 1)] += count
        for number, count in sorted(counts.items()):
            end = upper_end(one, number)
            left = self._left(upper_end(one, number - 1))
            bars.append(
                Bar(
                    left,
                    round(self._left(end) - left, 3),
                    self._height(count),
                    one.limit is not None and number > 0,
                    f"{count:,} up to {end:.2g}",
                )
            )
        return Histogram(tuple(bars), None if one.limit is None else self._left(one.limit))

    @property
    def _width(self) -> float:
        """Of a decade."""
        return (100 - _FIRST) / (self.highest - self.lowest)

    def _left(self, difference: float) -> float:
        place = _FIRST + (math.log10(difference) - self.lowest) * self._width
        return round(min(max(place, _FIRST), 100.0), 3)

    def _height(self, count: int) -> float:
        """By the logarithm, as one element beyond a limit matters beside 10,000 within."""
        if count == 0:
            return 0.0
        return round(8 + 92 * math.log(count) / math.log(max(self.tallest, 2)), 2)


def _equal(group: Iterable[Distribution]) -> int:
    return sum(one.equal for one in group)


def _counts(group: Iterable[Distribution]) -> Counter[int]:
    return sum((Counter(dict(one.counts)) for one in group), Counter())
