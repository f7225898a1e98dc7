"""The distance of others' vectors from a model's own, and how much of it a departure explains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.tolerance import LIMIT, relative_difference
from polybake.errors import PolybakeError
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.stored import Rounding
from polybake.study.diagnose.way import Vectors, Ways


@dataclass(frozen=True)
class Explanation:
    """A departure or a pair, and how near it brings the model's own vectors to the others.

    Attributes:
        name: What the other program does.
        parts: How many departures it consists of.
        explained: The explained part of the gap: 1 is all of it, 0 is none.
        left: The largest difference of an element that is left, relative to its vector's length.
        shown: For each text that was tried, the explained part of its own gap.
    """

    name: str
    parts: int
    explained: float
    left: float
    shown: NDArray[np.float64]


class Gap:
    """The gap between others' vectors and a model's own, both ``[texts, dimension]``.

    Zeros take the place of own vectors of another dimension.
    """

    def __init__(self, theirs: Vectors, own: Vectors) -> None:
        self.theirs = theirs.astype(np.float64)
        self.own = own if own.shape == theirs.shape else np.zeros_like(self.theirs)
        #: The distance of each text.
        self.of_texts: NDArray[np.float64] = np.linalg.norm(self.theirs - self.own, axis=1)

    @cached_property
    def largest(self) -> float:
        """The largest difference of an element, relative to its vector's length."""
        return relative_difference(self.theirs, self.own)

    def explanation(
        self, departure: Departure, vectors: Vectors, rounding: Rounding | None = None
    ) -> Explanation:
        """Say how much of the gap a departure's vectors explain, once they are rounded.

        Vectors that cannot be compared explain nothing and leave an infinite gap. An element near
        the edge of a step takes the others' side, as arithmetic may have put it on either.
        """
        if vectors.shape != self.theirs.shape or not np.isfinite(vectors).all():
            parts = np.full(len(self.theirs), -np.inf)
            return Explanation(departure.name, departure.parts, -np.inf, np.inf, parts)
        if rounding is not None:
            vectors = self._rounded(vectors, rounding)
        gap = np.linalg.norm(self.theirs - vectors, axis=1)
        before = np.where(self.of_texts > 0, self.of_texts, np.inf)
        whole = max(np.linalg.norm(self.of_texts), np.finfo(float).tiny)
        part, largest = 1 - np.linalg.norm(gap) / whole, relative_difference(vectors, self.theirs)
        return Explanation(departure.name, departure.parts, float(part), largest, 1 - gap / before)

    def _rounded(self, vectors: Vectors, rounding: Rounding) -> Vectors:
        theirs = self.theirs.astype(np.float32)
        if not rounding.holds(theirs):
            return rounding(vectors)
        slack = LIMIT * np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.clip(theirs, rounding(vectors - slack), rounding(vectors + slack))


@dataclass(frozen=True)
class Sample:
    """Some of the texts, and the gap of their vectors."""

    ways: Ways
    gap: Gap

    def at(self, places: NDArray[np.intp]) -> Sample:
        """Return a part of the texts, by their places."""
        ways = self.ways
        of_all = [ways.places[index] for index in places]
        gap = Gap(self.gap.theirs[places], self.gap.own[places])
        return Sample(Ways(ways.model, ways.texts, ways.prompt, of_all), gap)

    def fed(self, departure: Departure) -> tuple[object, ...] | None:
        """Return what a departure feeds the graph; None if it does not fit the tokenizer."""
        try:
            return self.ways.fed(departure.way)
        except Exception:
            return None

    def explanation(self, departure: Departure) -> Explanation | None:
        """Return what a departure explains; None if it does not fit the model."""
        rounding = departure.way.stored if isinstance(departure.way.stored, Rounding) else None
        way = replace(departure.way, stored=None) if rounding else departure.way
        try:
            with np.errstate(all="ignore"):
                return self.gap.explanation(departure, self.ways.vectors(way), rounding)
        except (PolybakeError, ValueError, IndexError):
            return None


def done(explanations: Iterable[Explanation]) -> bool:
    """Return whether an explanation leaves no gap."""
    return any(explanation.left <= LIMIT for explanation in explanations)
