"""The distances of a client's elements from the golden ones, counted in bins."""

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from polybake.verification.verdict import Stage

#: The number of bins per power of ten.
BINS = 4

#: A difference below this share of its limit counts as this share: for float32 1e-7 of 1e-5, about
#: one rounding (2 ** -23). Smaller differences say nothing, and an exact 0 has no multiple.
FLOOR = 0.01


@dataclass(frozen=True)
class Distribution:
    """The elements of a stage, by their difference from the golden ones.

    Differences of float32 are divided by the golden row's norm if that is above 1, so that all rows
    have one limit. Differences of integers are steps, and of packed bits how many bits differ.

    Attributes:
        limit: The tolerance's ``max_abs``; None for integers, which have their own slack each.
        largest: The largest difference.
        equal: The number of elements without a difference.
        counts: The others, ascending, as a bin and the number of elements in it: above
            ``10 ** ((bin - 1) / 4)`` limits, and at most ``10 ** (bin / 4)``. For integers, steps
            take the place of limits.
    """

    stage: Stage
    limit: float | None
    largest: float
    equal: int
    counts: tuple[tuple[int, int], ...]


@dataclass
class Differences:
    """Collects the differences of a distribution, case by case."""

    limit: float | None
    _largest: float = 0.0
    _equal: int = 0
    _counts: Counter[int] = field(default_factory=Counter)

    def add(self, differences: NDArray[np.float64]) -> None:
        """Count the finite differences of a case, of any shape."""
        some = differences[differences > 0]
        self._largest = max(self._largest, float(np.max(some, initial=0.0)))
        self._equal += differences.size - some.size
        # A difference equal to its limit passes, so a bin includes its upper end.
        bins = np.ceil(BINS * np.log10(some / (self.limit or 1.0))).astype(int)
        self._counts.update(bins.tolist())

    def distribution(self, stage: Stage) -> Distribution:
        """All that was counted."""
        counts = tuple(sorted(self._counts.items()))
        return Distribution(stage, self.limit, self._largest, self._equal, counts)


def upper_end(distribution: Distribution, number: int) -> float:
    """The largest difference that a bin holds."""
    return (distribution.limit or 1.0) * math.pow(10, number / BINS)


def times_grown(before: float, now: float, limit: float) -> float:
    """Return by what factor a difference grew; less than a hundredth of its limit is ignored."""
    return now / max(before, FLOOR * limit)
