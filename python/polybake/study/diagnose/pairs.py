"""Pairs of known departures, the most promising first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.explanation import Explanation, Looked, done
from polybake.study.diagnose.groups import in_whole_batches
from polybake.study.diagnose.way import Way

#: A pair that must run the graph anew is tried on this many texts first.
_FEW = 2

#: The part of the gap that a changed graph must explain alone to be tried in pairs.
_WORTH = 0.05

#: This many that explain most are paired before all others.
_FIRST = 4

#: The part of the gap that one must explain to hide another.
_MOST = 0.5

#: A pair must leave at most this part of what its better departure leaves alone.
GAIN = 0.5

_Found = Mapping[Departure, Explanation]


def best_pairs(found: _Found) -> Iterator[Departure]:
    """Yield the pairs of those that explain most alone, whatever they cost.

    One that explains most of the gap may hide another: it is paired with all that change no graph.
    """
    ranked = sorted(_matter(found), key=lambda one: -found[one].explained)
    tried = [
        both for both in combinations(ranked[:_FIRST], 2) if found[both[1]].explained >= _WORTH
    ]
    if ranked and found[ranked[0]].explained >= _MOST:
        tried += [(ranked[0], one) for one in ranked[1:] if one.way.graph is None]
    for one, other in dict.fromkeys(tried):
        if pair := one.joined(other):
            yield pair


def cheap_pairs(looked: Looked, found: _Found) -> Iterator[Departure]:
    """Yield every pair that feeds the graph like the model file, so that nothing runs anew.

    Args:
        looked: The texts that single departures were tried on.
        found: What the single departures explain.
    """
    for one, other in combinations(_matter(found), 2):
        costs = _costs(looked, one) or _costs(looked, other)
        if not costs and (pair := one.joined(other)):
            yield pair


def costly_pairs(looked: Looked, found: _Found, over: Callable[[], bool]) -> Iterator[Departure]:
    """Yield the promising pairs among all other pairs.

    Args:
        looked: The texts that single departures were tried on.
        found: What the single departures explain.
        over: Whether time has run out; then no more pairs are yielded.
    """
    matter = _matter(found)
    costly = {one for one in matter if _costs(looked, one)}
    tried = [both for both in combinations(matter, 2) if costly.intersection(both)]
    worth = {one: max(found[one].explained, 0.0) for one in matter}
    seen: dict[Departure, tuple[Looked, float]] = {}
    for both in sorted(tried, key=lambda both: -sum(map(worth.__getitem__, both))):
        if over():
            return
        if not (pair := both[0].joined(both[1])):
            continue
        best = max(both, key=worth.__getitem__)
        if best not in seen:
            few = _few(looked, found[best])
            alone = few.explanation(best)
            seen[best] = few, alone.explained if alone else 0.0
        few, before = seen[best]
        after = few.explanation(pair)
        if after and (done([after]) or 1 - after.explained <= GAIN * (1 - before)):
            yield pair


def _matter(found: _Found) -> list[Departure]:
    return [one for one in found if one.parts == 1 and _matters(one, found[one])]


def _costs(looked: Looked, one: Departure) -> bool:
    """Return whether a departure runs the graph anew."""
    return looked.fed(one) != looked.ways.fed(Way())


def _matters(one: Departure, explanation: Explanation) -> bool:
    """Return whether it changes vectors; a changed graph, which costs most, must explain some."""
    least = _WORTH if one.way.graph else -np.inf
    if in_whole_batches(one):
        return False
    return bool(explanation.shown.any()) and explanation.explained >= least


def _few(looked: Looked, explanation: Explanation) -> Looked:
    """Return the texts of which an explanation leaves the most."""
    left = (1 - explanation.shown) * looked.gap.of_texts
    return looked.at(np.argsort(-left, kind="stable")[:_FEW])
