"""The order in which departures are tried: what costs least, and what fits the gaps, first."""

from __future__ import annotations

import numpy as np

from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.explanation import Looked
from polybake.diagnosis.way import Way
from polybake.modelfile.compare import LIMIT

#: Of a vector's length: a smaller gap may come of weights or of arithmetic, which are then tried
#: before batches. Dynamic int8 of MiniLM leaves 0.09 in batches of 32 texts.
_SMALL = 0.1


def groups(looked: Looked, known: list[Departure]) -> list[list[Departure]]:
    """Departures that feed the graph the same, which cost one run together.

    Args:
        looked: The texts that they are tried on.
        known: All departures; of one graph, in batches or not, those stay together.
    """
    together: dict[object, list[Departure]] = {}
    for one in known:
        if (fed := looked.fed(one)) is not None:
            together.setdefault(fed, []).append(one)
    small = is_small(looked)
    return sorted(together.values(), key=lambda group: _rank(looked, group, small))


def in_whole_batches(one: Departure) -> bool:
    """Whether a vector depends on all texts of its batch."""
    return one.way.graph is not None and one.way.batch not in (None, 1)


def _rank(looked: Looked, group: list[Departure], small: bool) -> int:
    """What can explain all of the gap before what cannot, and what costs less before what more."""
    if looked.fed(group[0]) == looked.ways.fed(Way()):
        return 0
    one, way = group[0], group[0].way
    if one.slow:
        return 5 if small else 8
    if way.graph is not None:
        return 2 if small else 5
    if way.feed is not None:
        return 6
    if way.layer:
        return 1
    return 4 if _fits(looked, one) else 7


def _fits(looked: Looked, one: Departure) -> bool:
    """Tokens change of just those texts whose vectors differ."""
    pairs = zip(looked.ways.rows(Way()), looked.ways.rows(one.way), strict=True)
    changed = np.asarray([row != other for row, other in pairs])
    lengths = np.linalg.norm(looked.gap.theirs, axis=1)
    return bool((changed == (looked.gap.of_texts > LIMIT * lengths)).all())


def is_small(looked: Looked) -> bool:
    """Whether weights or arithmetic alone may leave such gaps."""
    lengths = np.linalg.norm(looked.gap.theirs, axis=1, keepdims=True)
    differences = np.abs(looked.gap.theirs - looked.gap.own)
    return bool((differences <= _SMALL * np.where(lengths > 0, lengths, 1)).all())
