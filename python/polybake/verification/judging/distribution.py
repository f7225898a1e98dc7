"""How far a client's elements lie from the golden ones: how many at which distance."""

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from polybake.verification.verdict import Stage

#: Of a decade.
BINS = 4

#: A difference below this share of its limit counts as this: for float32 1e-7 of 1e-5, about one
#: rounding (2 ** -23). What is smaller says nothing, and an exact 0 has no multiple.
FLOOR = 0.01


@dataclass(frozen=True)
class Distribution:
    """The elements of one stage by their difference from the golden ones.

    Differences of float32 are per unit of the golden row's norm where that is above 1, so that one
    limit is that of every row. Those of integers are steps, and of packed bits how many differ.

    Attributes:
        limit: The tolerance's ``max_abs``; None of integers, of which each has its own slack.
        largest: The largest difference.
        equal: Elements without any.
        counts: The others, ascending, each as a bin and how many lie in it: above
            ``10 ** ((bin - 1) / 4)`` limits, and at most ``10 ** (bin / 4)``. Of integers it is
            so many steps instead.
    """

    stage: Stage
    limit: float | None
    largest: float
    equal: int
    counts: tuple[tuple[int, int], ...]


@dataclass
class Differences:
    """What a distribution is made of, a case at a time."""

    limit: float | None
    _largest: float = 0.0
    _equal: int = 0
    _counts: Counter[int] = field(default_factory=Counter)

    def add(self, differences: NDArray[np.float64]) -> None:
        """Count the finite differences of one case, of any shape."""
        some = differences[differences > 0]
        self._largest = max(self._largest, float(np.max(some, initial=0.0)))
        self._equal += differences.size - some.size
        # A difference that is just its limit passes, so a bin has its upper end.
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
    """How many times as large a difference is, what is below a hundredth of its limit left out."""
    return now / max(before, FLOOR * limit)
