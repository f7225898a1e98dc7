"""The part of a gap that a departure explains, on the chosen texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.compare import LIMIT
from polybake.errors import PolybakeError
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.stored import Rounding
from polybake.study.diagnose.gap import Gap
from polybake.study.diagnose.way import Ways


@dataclass(frozen=True)
class Explanation:
    """A departure or a pair, and how near it brings the model's own vectors to the others.

    Attributes:
        name: What the other program does.
        parts: How many departures it consists of.
        explained: The explained part of the gap: 1 is all of it, 0 is none.
        left: The largest difference of an element that is left, relative to its vector's length.
        shown: For each chosen text, the explained part of its own gap.
    """

    name: str
    parts: int
    explained: float
    left: float
    shown: NDArray[np.float64]


@dataclass(frozen=True)
class Looked:
    """The chosen texts, and the gaps of their vectors."""

    ways: Ways
    gap: Gap

    def at(self, places: NDArray[np.intp]) -> Looked:
        """Return a part of the texts, by their places."""
        ways = self.ways
        chosen = [ways.places[place] for place in places]
        gap = Gap(self.gap.theirs[places], self.gap.own[places])
        return Looked(Ways(ways.model, ways.texts, ways.prompt, chosen), gap)

    def fed(self, one: Departure) -> tuple[object, ...] | None:
        """Return what a departure feeds the graph; None if it does not fit the tokenizer."""
        try:
            return self.ways.fed(one.way)
        except Exception:
            return None

    def rounded(self, one: Departure) -> Explanation | None:
        """Return what rounding the model's own vectors explains; this does not run the model."""
        rounding = one.way.stored
        if not isinstance(rounding, Rounding):
            return None
        return Explanation(one.name, 1, *self.gap.explained(self.gap.own, rounding))

    def explanation(self, one: Departure) -> Explanation | None:
        """Return what a departure explains; None if it does not fit the model."""
        rounding = one.way.stored if isinstance(one.way.stored, Rounding) else None
        way = replace(one.way, stored=None) if rounding else one.way
        try:
            with np.errstate(all="ignore"):
                seen = self.gap.explained(self.ways.vectors(way), rounding)
        except (PolybakeError, ValueError, IndexError):
            return None
        return Explanation(one.name, one.parts, *seen)


def done(found: Iterable[Explanation]) -> bool:
    """Return whether an explanation leaves no gap."""
    return any(one.left <= LIMIT for one in found)
