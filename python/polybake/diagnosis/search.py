"""Rank known departures by how much of a gap they explain, pairs of them included."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.departures.known import departures
from polybake.diagnosis.dissected import Dissected
from polybake.diagnosis.gap import Gap
from polybake.diagnosis.way import Vectors, Way, Ways
from polybake.errors import PolybakeError
from polybake.modelfile.compare import LIMIT

#: Of the gap; what explains less is no explanation, or one of a part.
EXPLAINED, IN_PART = 0.95, 0.5

#: Departures that run the graph on something else: so many of them are tried with each other one,
#: on so many texts first, and so many of these pairs on all texts.
_BEST, _FEW, _FULL = 5, 4, 3

#: Of the gap; what another graph must explain alone to be tried in pairs.
_WORTH = 0.05

#: A pair must leave at most so much of what the best one leaves alone.
_GAIN = 0.5


@dataclass(frozen=True)
class Explanation:
    """A departure, or two, and how far it brings the model's own vectors to the others.

    Attributes:
        name: What the other program does.
        parts: How many departures it is made of.
        explained: Of the gap: 1 is all of it, 0 nothing.
        left: The largest difference of one element, relative to its vector's length.
        shown: Of each text, what part of its own gap it explains.
    """

    name: str
    parts: int
    explained: float
    left: float
    shown: NDArray[np.float64]


def explanations(
    model: Dissected,
    texts: list[str],
    theirs: Vectors,
    prompt: str | None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Explanation]:
    """Try all known departures, and pairs of them where none explains the gap alone.

    Args:
        model: The model file.
        texts: One for each row of ``theirs``.
        theirs: ``[texts, dimension]``.
        prompt: The name of the prompt that the file's own vectors have.
        tell: Told what begins.

    Returns:
        What explains anything, best first. Departures that these texts cannot tell apart are one.
    """
    ways = Ways(model, texts, prompt)
    gap = Gap(theirs, ways.vectors(Way()))
    singles = departures(model, prompt, theirs.shape[1])
    tell(f"trying {len(singles)} known differences")
    found = _tried(ways, gap, singles)
    if not _done(found.values()):
        tell("trying pairs of them")
        found |= _tried(ways, gap, _pairs(ways, gap, found))
    return _distinct(found.values())


def _done(found: Iterable[Explanation]) -> bool:
    """One of them explains the whole gap."""
    return any(one.left <= LIMIT for one in found)


def _tried(ways: Ways, gap: Gap, tried: Iterable[Departure]) -> dict[Departure, Explanation]:
    """Of each departure that fits the model, what it explains.

    Those that feed the graph the same are tried together, the file's own feed first; when one of
    them explains the whole gap, it is the last feed.
    """
    together: dict[object, list[Departure]] = {ways.fed(Way()): []}
    for one in tried:
        if (fed := _fed(ways, one)) is not None:
            together.setdefault(fed, []).append(one)
    found: dict[Departure, Explanation] = {}
    for group in together.values():
        seen = {one: _explanation(ways, gap, one) for one in group}
        found |= {one: explanation for one, explanation in seen.items() if explanation}
        if _done(found.values()):
            break
    return found


def _fed(ways: Ways, one: Departure) -> object:
    """What a departure feeds the graph; None where it does not fit the tokenizer."""
    try:
        return ways.fed(one.way)
    except Exception:
        return None


def _explanation(ways: Ways, gap: Gap, one: Departure) -> Explanation | None:
    try:
        with np.errstate(all="ignore"):
            return Explanation(one.name, one.parts, *gap.explained(ways.vectors(one.way)))
    except (PolybakeError, ValueError, IndexError):
        return None  # it does not fit this model


def _pairs(ways: Ways, gap: Gap, found: dict[Departure, Explanation]) -> Iterator[Departure]:
    """Every pair that costs little, and of the others those that promise most."""
    matter = [one for one in found if _matters(one, found[one])]
    own = ways.fed(Way())
    costly = dict.fromkeys(one for one in matter if _fed(ways, one) != own)
    for one, other in combinations(matter, 2):
        if not (one in costly and other in costly) and (pair := one.joined(other)):
            yield pair
    best = sorted(costly, key=lambda one: -found[one].explained)[:_BEST]
    few = {one: _few(ways, gap, found[one]) for one in best}
    promise: dict[Departure, dict[Departure, float]] = {one: {} for one in best}
    for other in costly:  # in the outer loop, as it may be another graph
        # Two of the best are one pair, whichever comes first.
        for one in best[: best.index(other)] if other in best else best:
            if pair := one.joined(other):
                seen = _explanation(*few[one], pair)
                promise[one][pair] = seen.explained if seen else -np.inf
    for pairs in promise.values():
        yield from sorted(pairs, key=lambda pair: -pairs[pair])[:_FULL]


def _matters(one: Departure, explanation: Explanation) -> bool:
    """Here it changes vectors; and another graph, which costs most, in their direction."""
    least = _WORTH if one.way.graph else -np.inf
    return bool(explanation.shown.any()) and explanation.explained >= least


def _few(ways: Ways, gap: Gap, explanation: Explanation) -> tuple[Ways, Gap]:
    """The texts of which an explanation leaves most."""
    left = (1 - explanation.shown) * gap.of_texts
    places = np.argsort(-left, kind="stable")[:_FEW]
    texts = [ways.texts[place] for place in places]
    return Ways(ways.model, texts, ways.prompt), Gap(gap.theirs[places], gap.own[places])


def _distinct(found: Collection[Explanation]) -> list[Explanation]:
    """Best first; what explains the same of every text is one, the simplest of them before."""
    alone = max((one.explained for one in found if one.parts == 1), default=0.0)
    ranked = sorted(found, key=lambda one: (-round(one.explained, 4), one.parts))
    kept: list[Explanation] = []
    for one in ranked:
        if one.explained <= 0:
            break
        if one.parts > 1 and 1 - one.explained > _GAIN * (1 - max(alone, 0.0)):
            continue
        same = next((each for each in kept if np.allclose(each.shown, one.shown, atol=1e-4)), None)
        if same is None:
            kept.append(one)
        elif same.parts == one.parts:
            kept[kept.index(same)] = replace(same, name=f"{same.name}, or {one.name}")
    return kept
