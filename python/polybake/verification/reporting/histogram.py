"""Histograms of differences: the places of bars, limits and powers of ten, in percent."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from polybake.verification.judging.distribution import BINS, Distribution, upper_end

#: The powers of ten below the smallest limit that are shown; the first bar has all below.
_DECADES = 5

#: The most powers of ten on the axis, as a wrong client may give any number.
_TICKS = 12

#: Elements without a difference come before the axis, as its logarithm has no place for 0.
_EQUAL, _FIRST = 6.0, 11.0

#: The largest error of a logarithm.
_EDGE = 1e-9


@dataclass(frozen=True)
class Bar:
    """The bar of a bin: its place and height in percent, and its title."""

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
    """A client's bars, and the place of its limit; None for integers, whose limits vary."""

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
        """Return the axis with room for all distributions; each group is a histogram."""
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
        """Draw the distributions of a client as one histogram; they share a limit."""
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
        """The width of a power of ten, in percent."""
        return (100 - _FIRST) / (self.highest - self.lowest)

    def _left(self, difference: float) -> float:
        place = _FIRST + (math.log10(difference) - self.lowest) * self._width
        return round(min(max(place, _FIRST), 100.0), 3)

    def _height(self, count: int) -> float:
        """Return a bar's height on a log scale: an element beyond a limit matters beside 10,000."""
        if count == 0:
            return 0.0
        return round(8 + 92 * math.log(count) / math.log(max(self.tallest, 2)), 2)


def _equal(group: Iterable[Distribution]) -> int:
    return sum(one.equal for one in group)


def _counts(group: Iterable[Distribution]) -> Counter[int]:
    return sum((Counter(dict(one.counts)) for one in group), Counter())
