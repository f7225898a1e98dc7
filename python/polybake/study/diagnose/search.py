"""Rank known departures and pairs of them by how much of a gap they explain."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.chosen import chosen
from polybake.study.diagnose.departures.constant import before_normalize, constant
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.known import departures
from polybake.study.diagnose.departures.stored import grid
from polybake.study.diagnose.dissected import Dissected
from polybake.study.diagnose.explanation import Explanation, Looked, done
from polybake.study.diagnose.gap import Gap
from polybake.study.diagnose.groups import groups, in_whole_batches, is_near
from polybake.study.diagnose.pairs import GAIN, best_pairs, cheap_pairs, costly_pairs
from polybake.study.diagnose.way import Vectors, Way, Ways

#: The part of a gap that a full and a partial explanation must explain.
EXPLAINED, IN_PART = 0.95, 0.5

#: The texts and tokens of the first look, and of the second look at the best departures.
_FIRST, _SECOND = (4, 256), (8, 512)

#: The most tokens of a batch that is run whole.
_WHOLE = 32768

#: The most texts that a constant is fitted to.
_FITTED = 64

#: How many departures get a second look, and the least part that they must explain.
_BEST, _LEAST = 5, 0.02

#: After this many seconds of processor time nothing slow and no more pairs are tried.
_TIME = 40.0


@dataclass(frozen=True)
class Explanations:
    """The explanations of a gap.

    Attributes:
        found: Best first. Departures that the texts cannot tell apart are one explanation.
        places: The places of the texts in `Explanation.shown`.
        ended: Whether time ran out before all departures were tried.
    """

    found: tuple[Explanation, ...]
    places: NDArray[np.intp]
    ended: bool


def explanations(
    model: Dissected,
    texts: list[str],
    theirs: Vectors,
    prompt: str | None,
    tell: Callable[[str], None] = lambda _: None,
    own: Vectors | None = None,
) -> Explanations:
    """Try all known departures, and pairs of them if none explains the gap alone.

    Args:
        model: The model file.
        texts: A text for each row of ``theirs``.
        theirs: The vectors to explain, ``[texts, dimension]``.
        prompt: The name of the prompt of the file's own vectors.
        tell: Called with what begins, and with the best explanation so far.
        own: The file's own vectors, if they are known.
    """
    ways = Ways(model, texts, prompt)
    gap = Gap(theirs, ways.vectors(Way()) if own is None else own)
    rounded = grid(theirs.astype(np.float32))
    looked = Looked(ways, gap)
    if rounded and (seen := looked.rounded(rounded)) and done([seen]):
        return Explanations((seen,), np.arange(len(texts)), ended=False)
    search = _Search(looked, rounded, tell)
    ended = search.ended(departures(model, prompt, theirs.shape[1], len(texts)))
    return Explanations(tuple(_distinct(search.sure.values())), search.places, ended)


class _Search:
    """The search: all departures on a few texts, then the best on more texts."""

    def __init__(
        self, looked: Looked, rounded: Departure | None, tell: Callable[[str], None]
    ) -> None:
        self.began = time.process_time()
        self.looked, self.rounded, self.tell = looked, rounded, tell
        self.lengths = np.asarray([len(row) for row in looked.ways.rows(Way())])
        gaps, self.size = looked.gap.of_texts, looked.gap.largest
        few, self.places = (chosen(gaps, self.lengths, *size) for size in (_FIRST, _SECOND))
        self.second = looked.at(self.places)
        self.first = looked.at(few) if len(few) < len(self.places) else self.second
        self.found: dict[Departure, Explanation] = {}
        self.sure: dict[Departure, Explanation] = {}

    def ended(self, known: list[Departure]) -> bool:
        """Try all until a departure explains the whole gap; return whether time ran out first.

        Slow departures come after the pairs that run no model, unless they fit the size of the gap.
        """
        late = {one for one in known if one.slow and not is_near(one, self.size)}
        self._singles([one for one in known if one not in late])
        self._constant()
        self._pairs(best_pairs(dict(self.found)))
        self._pairs(cheap_pairs(self.first, dict(self.found)))
        self._singles([one for one in known if one in late])
        self._pairs(costly_pairs(self.first, dict(self.found), self._over))
        if done(self.sure.values()):
            return False
        over = self._over()
        for parts in (1, 2):
            self._confirm(parts)
        return over

    def _constant(self) -> None:
        """Try the constant vector that other texts than those of the second look determine."""
        if done(self.sure.values()):
            return
        others = np.setdiff1d(np.arange(len(self.lengths)), self.places)
        short = others[np.argsort(self.lengths[others], kind="stable")][:_FITTED]
        model, some = self.looked.ways.model, self.looked.at(short)
        if len(short) and (
            one := constant(model, some.ways.vectors(before_normalize(model)), some.gap.theirs)
        ):
            self._try("known differences", [one])

    def _singles(self, known: list[Departure]) -> None:
        """Try each departure alone, and with the rounding that the given vectors show."""
        if done(self.sure.values()):
            return
        for group in groups(self.first, known, self.size):
            self._try("known differences", [each for one in group for each in self._forms(one)])
            if done(self.sure.values()) or (group[0].slow and self._over()):
                return

    def _pairs(self, tried: Iterator[Departure]) -> None:
        """Try pairs if nothing explains the whole gap."""
        if done(self.sure.values()):
            return
        for pair in tried:
            self._try("pairs of known differences", [pair])
            if done(self.sure.values()):
                return

    def _try(self, what: str, tried: list[Departure]) -> None:
        best = max(self.found.values(), key=lambda one: one.explained, default=None)
        so_far = f"; best so far: {best.explained:.1%} {best.name}" if best else ""
        self.tell(f"trying {what}, {len(self.found)} tried{so_far}")
        for one in tried:
            if in_whole_batches(one):
                self._try_whole(one)
            elif seen := self.first.explanation(one):
                self.found[one] = seen
                if done([seen]):
                    self._put(one)

    def _try_whole(self, one: Departure) -> None:
        """Try a departure on all texts of one batch: the batch with the fewest tokens."""
        size, count = one.way.batch or 1, len(self.lengths)
        batches = [np.arange(first, min(first + size, count)) for first in range(0, count, size)]
        costs = [int(len(places) * self.lengths[places].max()) for places in batches]
        best = int(np.argmin(costs))
        if costs[best] > _WHOLE:
            return
        seen = self.looked.at(batches[best]).explanation(one)
        if seen and seen.explained >= IN_PART:
            shown = dict(zip(batches[best].tolist(), seen.shown, strict=True))
            each = [shown.get(place, seen.explained) for place in self.places.tolist()]
            self.found[one] = self.sure[one] = replace(seen, shown=np.asarray(each))

    def _forms(self, one: Departure) -> Iterator[Departure]:
        rounded = self.rounded
        if rounded is None or one.name != rounded.name:
            yield one
        elif rounded:
            yield rounded
        if rounded and one.way.stored is None and (both := one.joined(rounded)):
            yield both

    def _put(self, one: Departure) -> None:
        """Explain with the texts of the second look."""
        seen = self.found[one] if self.first is self.second else self.second.explanation(one)
        if seen:
            self.sure[one] = seen

    def _confirm(self, parts: int) -> None:
        """Take a second look at the best departures of this many parts."""
        kept = [one for one in self.found.items() if one[0].parts == parts]
        ranked = sorted((seen.explained for _, seen in kept), reverse=True)
        least = max([_LEAST, *ranked[_BEST - 1 : _BEST]])
        for one, seen in kept:
            if seen.explained >= least and one not in self.sure:
                self._put(one)

    def _over(self) -> bool:
        return time.process_time() - self.began > _TIME


def _distinct(found: Collection[Explanation]) -> list[Explanation]:
    """Sort best first, and merge departures that explain the same of every text."""
    alone = max((one.explained for one in found if one.parts == 1), default=0.0)
    ranked = sorted(found, key=lambda one: (-round(one.explained, 4), one.parts))
    kept: list[Explanation] = []
    for one in ranked:
        if one.explained <= 0:
            break
        if one.parts > 1 and 1 - one.explained > GAIN * (1 - max(alone, 0.0)):
            continue
        same = next((each for each in kept if np.allclose(each.shown, one.shown, atol=1e-4)), None)
        if same is None:
            kept.append(one)
        elif same.parts == one.parts:
            kept[kept.index(same)] = replace(same, name=f"{same.name}, or {one.name}")
    return kept
