"""The order in which departures are tried: the cheapest and those that fit the gap first."""

from __future__ import annotations

import math

import numpy as np

from polybake.base.modelfile.compare import LIMIT
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.explanation import Looked
from polybake.study.diagnose.way import Way

#: A changed graph is tried early if the gap is within this factor of its difference on MiniLM,
#: and no larger than this part of a vector's length: dynamic int8 of MiniLM makes 0.03 to 0.08.
_NEAR, _SMALL = 10, 0.1


def groups(looked: Looked, known: list[Departure], size: float) -> list[list[Departure]]:
    """Group departures that feed the graph the same input, so that a group costs one run.

    Args:
        looked: The texts that they are tried on.
        known: All departures.
        size: The largest difference of an element of any text, relative to its vector's length.
    """
    together: dict[object, list[Departure]] = {}
    for one in known:
        if (fed := looked.fed(one)) is not None:
            together.setdefault(fed, []).append(one)
    return sorted(together.values(), key=lambda group: _order(looked, group, size))


def in_whole_batches(one: Departure) -> bool:
    """Return whether a vector depends on all texts of its batch."""
    return one.way.graph is not None and one.way.batch not in (None, 1)


def _order(looked: Looked, group: list[Departure], size: float) -> tuple[int, float]:
    """Order a group by its rank, then by how far its difference is from the gap."""
    return _rank(looked, group, size), min(_distance(one, size) for one in group)


def _rank(looked: Looked, group: list[Departure], size: float) -> int:
    """Rank a group: lower if it can explain the whole gap, and if it costs less."""
    one, way = group[0], group[0].way
    if looked.fed(one) == looked.ways.fed(Way()):
        return 0
    if way.graph is not None:
        return 5 if is_near(one, size) else 7 if one.slow else 6
    if way.feed is not None:
        return 4
    if way.layer:
        return 2
    return 1 if _fits(looked, one) else 3


def is_near(one: Departure, size: float) -> bool:
    """Return whether a departure makes a difference about as large as the gap."""
    return size <= _SMALL and _distance(one, size) <= math.log(_NEAR)


def _distance(one: Departure, size: float) -> float:
    """Return the logarithm of the factor between a departure's difference and the gap."""
    return abs(math.log(size / one.leaves)) if one.leaves else math.inf


def _fits(looked: Looked, one: Departure) -> bool:
    """Return whether the tokens change in exactly the texts whose vectors differ."""
    pairs = zip(looked.ways.rows(Way()), looked.ways.rows(one.way), strict=True)
    changed = np.asarray([row != other for row, other in pairs])
    lengths = np.linalg.norm(looked.gap.theirs, axis=1)
    return bool((changed == (looked.gap.of_texts > LIMIT * lengths)).all())
