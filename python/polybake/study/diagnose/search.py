"""Search for what explains a gap: each known departure alone, then the best with each other one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.tolerance import LIMIT
from polybake.study.diagnose.departures.constant import before_normalize, constant
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.known import departures
from polybake.study.diagnose.departures.stored import Rounding, grid
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.gap import Explanation, Gap, Sample, done
from polybake.study.diagnose.way import Vectors, Way, Ways

#: The part of a gap that a full and a partial explanation must explain.
EXPLAINED, IN_PART = 0.95, 0.5

#: The texts and tokens of the first look, and of the second look at the best departures.
_FIRST, _SECOND = (4, 256), (8, 512)

#: This many texts are looked at, however long they are.
_SHORTEST = 4

#: The most tokens of a batch that is run whole.
_WHOLE = 32768

#: The most texts that a constant is fitted to.
_FITTED = 64

#: How many departures get a second look, and the least part that they must explain.
_BEST, _LEAST = 5, 0.02

#: How many of the best are paired with each other first, and on how many texts.
_PAIRED, _FEW = 4, 2

#: The part that a changed graph, which costs most, must explain alone to be tried in pairs.
_WORTH = 0.05

#: A pair must leave at most this part of what its better departure leaves alone.
_GAIN = 0.5

#: A changed graph is tried early if the gap is within this factor of its difference on MiniLM,
#: and no larger than this part of a vector's length: dynamic int8 of MiniLM makes 0.03 to 0.08.
_NEAR, _SMALL = 10, 0.1

#: After this many seconds of processor time nothing slow and no more pairs are tried.
_TIME = 40.0


@dataclass(frozen=True)
class Explanations:
    """Explanations of the difference between given vectors and the model file's vectors.

    Attributes:
        found: Best first. Departures that the texts cannot tell apart are one explanation.
        places: The places of the texts in `Explanation.shown`.
        ended: Whether time ran out before all departures were tried.
    """

    found: tuple[Explanation, ...]
    places: NDArray[np.intp]
    ended: bool


def explanations(
    model: Dissection,
    texts: list[str],
    theirs: Vectors,
    prompt: str | None,
    tell: Callable[[str], None] = lambda _: None,
    own: Vectors | None = None,
) -> Explanations:
    """Try all known departures, and pairs of them if none explains the gap alone.

    There is a text for each row of ``theirs``, ``[texts, dimension]``; ``own`` are the file's own
    vectors, if they are known.
    """
    ways = Ways(model, texts, prompt)
    gap = Gap(theirs, ways.vectors(Way()) if own is None else own)
    rounded = grid(theirs.astype(np.float32))
    if rounded and isinstance(rounding := rounded.way.stored, Rounding):
        explanation = gap.explanation(rounded, gap.own, rounding)  # runs no model
        if done([explanation]):
            return Explanations((explanation,), np.arange(len(texts)), ended=False)
    search = _Search(Sample(ways, gap), rounded, tell)
    ended = search.ended(departures(model, prompt, theirs.shape[1], len(texts)))
    return Explanations(tuple(_distinct(search.sure.values())), search.places, ended)


class _Search:
    """The search: all departures on a few texts, then the best on more texts."""

    def __init__(
        self, sample: Sample, rounded: Departure | None, tell: Callable[[str], None]
    ) -> None:
        self.began = time.process_time()
        self.sample, self.rounded, self.tell = sample, rounded, tell
        self.lengths = np.asarray([len(row) for row in sample.ways.rows(Way())])
        gaps = sample.gap.of_texts
        few, self.places = (_places(gaps, self.lengths, *size) for size in (_FIRST, _SECOND))
        self.second = sample.at(self.places)
        self.first = sample.at(few) if len(few) < len(self.places) else self.second
        self.found: dict[Departure, Explanation] = {}
        self.sure: dict[Departure, Explanation] = {}

    def ended(self, causes: list[Departure]) -> bool:
        """Try all until one explains the whole gap; return whether time ran out first."""
        for group in self._candidates(causes):
            if not (self._over() and group[0].slow):
                self._try(group)
            if done(self.sure.values()):
                return False
        over = self._over()
        for parts in (1, 2):
            self._confirm(parts)
        return over

    def _candidates(self, causes: list[Departure]) -> Iterator[list[Departure]]:
        """Yield what is tried together, in the order of trying."""
        yield from self._groups(causes)
        if subtracted := self._constant():
            yield [subtracted]
        for pair in self._pairs():
            yield [pair]

    def _groups(self, causes: list[Departure]) -> Iterator[list[Departure]]:
        """Yield groups that feed the graph the same input, so that a group costs one run."""
        groups: dict[object, list[Departure]] = {}
        for cause in causes:
            if (key := self.first.fed(cause)) is not None:
                groups.setdefault(key, []).append(cause)
        for group in sorted(groups.values(), key=self._cost):
            yield [form for cause in group for form in self._forms(cause)]

    def _cost(self, group: list[Departure]) -> tuple[int, float]:
        """Return a rank, lower where it costs less, and how far its difference is from the gap."""
        way, distance = group[0].way, min(map(self._distance, group))
        if self._runs_nothing(group[0]):
            rank = 0
        elif way.graph is not None:
            near = self.sample.gap.largest <= _SMALL and distance <= math.log(_NEAR)
            rank = 5 if near else 7 if group[0].slow else 6
        elif way.feed is not None:
            rank = 4
        elif way.layer:
            rank = 2
        else:
            rank = 1 if self._fits(way) else 3
        return rank, distance

    def _distance(self, cause: Departure) -> float:
        """Return the logarithm of the factor between a departure's difference and the gap."""
        return abs(math.log(self.sample.gap.largest / cause.leaves)) if cause.leaves else math.inf

    def _runs_nothing(self, cause: Departure) -> bool:
        """Return whether a departure feeds the graph like the model file."""
        return self.first.fed(cause) == self.first.ways.fed(Way())

    def _fits(self, way: Way) -> bool:
        """Return whether the tokens change in exactly the texts whose vectors differ."""
        ways, gap = self.first.ways, self.first.gap
        pairs = zip(ways.rows(Way()), ways.rows(way), strict=True)
        differ = gap.of_texts > LIMIT * np.linalg.norm(gap.theirs, axis=1)
        return [row != other for row, other in pairs] == list(differ)

    def _forms(self, departure: Departure) -> Iterator[Departure]:
        """Yield a departure, and it with the rounding that the given vectors show."""
        rounding = self.rounded
        if rounding is None or departure.name != rounding.name:
            yield departure
        else:
            yield rounding
        if rounding and departure.way.stored is None and (pair := departure.joined(rounding)):
            yield pair

    def _constant(self) -> Departure | None:
        """Return the constant vector that other texts than those of the second look determine."""
        others = np.setdiff1d(np.arange(len(self.lengths)), self.places)
        short = others[np.argsort(self.lengths[others], kind="stable")][:_FITTED]
        if not len(short):
            return None
        model, sample = self.sample.ways.model, self.sample.at(short)
        vectors = sample.ways.vectors(before_normalize(model))
        return constant(model, vectors, sample.gap.theirs)

    def _pairs(self) -> Iterator[Departure]:
        """Yield the best with each other departure, where a pair gains much on few texts.

        Those of the best, and those that run no graph, come first, whatever time is left.
        """
        single = {cause: result for cause, result in self.found.items() if _pairable(cause, result)}
        ranking = sorted(single, key=lambda cause: -single[cause].explained)
        cheap = {cause for cause in ranking if self._runs_nothing(cause)}
        pairs = list(combinations(ranking, 2))
        first = {*combinations(ranking[:_PAIRED], 2), *filter(cheap.issuperset, pairs)}
        alone = cache(lambda cause: self._alone(cause, single[cause]))
        for best, other in sorted(pairs, key=lambda pair: pair not in first):
            if self._over() and (best, other) not in first:
                return
            if pair := best.joined(other):
                few, before = alone(best)
                result = few.explanation(pair)
                if result and (done([result]) or 1 - result.explained <= _GAIN * (1 - before)):
                    yield pair

    def _alone(self, cause: Departure, result: Explanation) -> tuple[Sample, float]:
        """Return the texts of which a departure leaves most, and what it explains of them."""
        gaps = (1 - result.shown) * self.first.gap.of_texts
        few = self.first.at(np.argsort(-gaps, kind="stable")[:_FEW])
        alone = few.explanation(cause)
        return few, alone.explained if alone else 0.0

    def _try(self, group: list[Departure]) -> None:
        best = max(self.found.values(), key=lambda result: result.explained, default=None)
        so_far = f"; best so far: {best.explained:.1%} {best.name}" if best else ""
        kind = "pairs of known" if all(cause.parts > 1 for cause in group) else "known"
        self.tell(f"trying {kind} differences, {len(self.found)} tried{so_far}")
        for cause in group:
            if _in_whole_batches(cause):
                self._try_whole(cause)
            elif result := self.first.explanation(cause):
                self.found[cause] = result
                if done([result]):
                    self._put(cause)

    def _try_whole(self, cause: Departure) -> None:
        """Try a departure on all texts of one batch: the batch with the fewest tokens."""
        size, count = cause.way.batch or 1, len(self.lengths)
        batches = [np.arange(first, min(first + size, count)) for first in range(0, count, size)]
        costs = [int(len(places) * self.lengths[places].max()) for places in batches]
        cheapest = int(np.argmin(costs))
        if costs[cheapest] > _WHOLE:
            return
        result = self.sample.at(batches[cheapest]).explanation(cause)
        if result and result.explained >= IN_PART:
            shares = dict(zip(batches[cheapest].tolist(), result.shown, strict=True))
            each = [shares.get(index, result.explained) for index in self.places.tolist()]
            self.found[cause] = self.sure[cause] = replace(result, shown=np.asarray(each))

    def _put(self, cause: Departure) -> None:
        """Explain with the texts of the second look."""
        result = self.found[cause] if self.first is self.second else self.second.explanation(cause)
        if result:
            self.sure[cause] = result

    def _confirm(self, parts: int) -> None:
        """Take a second look at the best departures of this many parts."""
        items = [item for item in self.found.items() if item[0].parts == parts]
        shares = sorted((result.explained for _, result in items), reverse=True)
        least = max([_LEAST, *shares[_BEST - 1 : _BEST]])
        for cause, result in items:
            if result.explained >= least and cause not in self.sure:
                self._put(cause)

    def _over(self) -> bool:
        return time.process_time() - self.began > _TIME


def _places(
    gaps: NDArray[np.float64], lengths: NDArray[np.intp], most: int, tokens: int
) -> NDArray[np.intp]:
    """Return the places of the texts with the largest gaps, and of as many evenly spaced others.

    They are at most ``most`` texts of ``tokens`` in all. The longest text is taken first, as only
    it shows limits, unless it takes over half the tokens.
    """
    worst = np.argsort(-gaps, kind="stable")
    spread = np.linspace(0, len(gaps) - 1, min(len(gaps), most)).astype(int)
    longest = int(np.argmax(lengths))
    short = lengths[longest] <= tokens // 2
    sizes = {longest: int(lengths[longest])} if short else {}
    for index in np.stack([worst[: len(spread)], spread], axis=1).ravel().tolist():
        fits = len(sizes) < _SHORTEST or sum(sizes.values()) + lengths[index] <= tokens
        if fits and len(sizes) < most:
            sizes[index] = int(lengths[index])
    return np.asarray(sorted(sizes))


def _in_whole_batches(cause: Departure) -> bool:
    """Return whether a vector depends on all texts of its batch."""
    return cause.way.graph is not None and cause.way.batch not in (None, 1)


def _pairable(cause: Departure, result: Explanation) -> bool:
    """Return whether a single departure changes vectors; a changed graph must explain some."""
    least = _WORTH if cause.way.graph else -np.inf
    changes = bool(result.shown.any()) and result.explained >= least
    return cause.parts == 1 and changes and not _in_whole_batches(cause)


def _distinct(results: Collection[Explanation]) -> list[Explanation]:
    """Sort best first, and merge departures that explain the same of every text."""
    alone = max((result.explained for result in results if result.parts == 1), default=0.0)
    ranking = sorted(results, key=lambda result: (-round(result.explained, 4), result.parts))
    best: list[Explanation] = []
    for item in ranking:
        if item.explained <= 0:
            break
        if item.parts > 1 and 1 - item.explained > _GAIN * (1 - max(alone, 0.0)):
            continue
        same = next((each for each in best if np.allclose(each.shown, item.shown, atol=1e-4)), None)
        if same is None:
            best.append(item)
        elif same.parts == item.parts:
            best[best.index(same)] = replace(same, name=f"{same.name}, or {item.name}")
    return best
