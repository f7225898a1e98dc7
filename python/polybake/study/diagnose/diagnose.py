"""Find out why vectors are not the model file's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.tolerance import LIMIT, relative_difference
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.gap import Explanation, Gap
from polybake.study.diagnose.row_order import described, listed, order
from polybake.study.diagnose.search import EXPLAINED, IN_PART, Explanations, explanations

#: The texts that are embedded between two reports of progress.
_WINDOW = 1024

#: No embedding has elements this large, or as small as their inverses; floats read in the wrong
#: byte order have more than this part of them.
_HUGE, _ODD = 1e18, 0.05

#: How many texts are shown as examples.
_SHOWN = 3

#: Largest differences, relative to a vector's length, and the arithmetic that causes them.
#: Source: docs/tolerances.md, "Why these numbers" and "Fewer bits".
_ROUNDING = ((3e-3, "float16, bfloat16 or TF32"), (3e-2, "int8"))


@dataclass(frozen=True)
class Example:
    """A text whose vector shows an explanation.

    Attributes:
        row: Its row, from 1.
        text: The text.
        gap: The distance of its two vectors.
        explained: The part of the gap that is explained.
    """

    row: int
    text: str
    gap: float
    explained: float


@dataclass(frozen=True)
class Diagnosis:
    """The result of a diagnosis.

    Attributes:
        rows: How many vectors were compared.
        difference: The largest difference of an element, relative to its vector's length, between
            vectors of the same text; None if the dimensions differ.
        swapped: Whether the floats are in the other byte order.
        zeros: How many vectors are all zeros; these are not compared further.
        moved: How many vectors belong to another text, or to none.
        astray: Which rows are zeros or another text's, and which texts have none, in words.
        found: The explanations, best first; empty if there is no gap.
        examples: The texts that show the first explanation best.
        ended: Whether time ran out before all departures were tried.
    """

    rows: int
    difference: float | None
    swapped: bool
    zeros: int
    moved: int
    astray: tuple[str, ...]
    found: tuple[Explanation, ...]
    examples: tuple[Example, ...]
    ended: bool

    @property
    def verdict(self) -> Literal["same", "explained", "explained in part", "unexplained"]:
        """Whether the vectors are the same, and if not, how far the gap is explained."""
        if self._near:
            return "explained" if self.swapped or self.moved or self.zeros else "same"
        most = self.found[0].explained if self.found else 0.0
        if most >= EXPLAINED:
            return "explained"
        return "explained in part" if most >= IN_PART else "unexplained"

    @property
    def left(self) -> float | None:
        """The largest difference of an element that the best explanation, if any, leaves."""
        explained = self.found and self.verdict == "explained"
        return self.found[0].left if explained else self.difference

    @property
    def rounding(self) -> str | None:
        """The arithmetic that causes differences as large as what is left, if anything is left."""
        if self.left is None or self.left <= LIMIT:
            return None
        return next((name for most, name in _ROUNDING if self.left <= most), None)

    @property
    def _near(self) -> bool:
        return self.difference is not None and self.difference <= LIMIT


def diagnose(
    model: Path,
    texts: list[str],
    theirs: NDArray[np.float32],
    prompt: Prompt,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Compare vectors with a file's own, and search for what explains the difference.

    There is a text for each row of ``theirs``, ``[texts, dimension]``.
    """
    dissection = Dissection.read(model)
    theirs, swapped = _in_order(theirs)
    name = prompt.contract(dissection.manifest.contract).default_prompt
    own = _own(model, texts, name, tell)
    zeros = ~theirs.any(axis=1) & own.any(axis=1)
    rows = order(theirs, own)
    places = np.flatnonzero((rows >= 0) & ~zeros)
    beside = rows[places]  # the texts whose vectors these are
    alike = own.shape[1] == theirs.shape[1]
    difference = relative_difference(theirs[places], own[beside]) if alike else None
    result = None
    if len(places) and (difference is None or difference > LIMIT):
        own_texts = [texts[index] for index in beside]
        result = explanations(dissection, own_texts, theirs[places], name, tell, own[beside])
    astray = described(rows, np.flatnonzero(zeros))
    moves = int((rows != np.arange(len(rows))).sum())
    return Diagnosis(
        len(texts),
        difference,
        swapped,
        int(zeros.sum()),
        moves,
        astray,
        result.found if result else (),
        _examples(result, texts, rows, Gap(theirs[places], own[beside]), places) if result else (),
        bool(result and result.ended),
    )


def _own(
    model: Path, texts: list[str], prompt: str | None, tell: Callable[[str], None]
) -> NDArray[Any]:
    """Return the file's own vectors of all texts."""
    embedder = Embedder(model)
    vectors = []
    for first in range(0, len(texts), _WINDOW):
        tell(f"embedding all {len(texts)} texts, {first} done")
        vectors.append(embedder.embed(texts[first : first + _WINDOW], prompt=prompt))
    return np.concatenate(vectors)


def _in_order(theirs: NDArray[np.float32]) -> tuple[NDArray[np.float32], bool]:
    """Return the vectors in this machine's byte order, and whether the bytes were swapped."""
    odd, other = _odd(theirs), theirs.byteswap()
    if odd.mean() > _ODD and _odd(other).mean() < _ODD:
        return other, True
    rows = np.flatnonzero(~np.isfinite(theirs).all(axis=1))
    if len(rows):
        verb, which = ("holds", "it") if len(rows) == 1 else ("hold", "them")
        raise InputError(f"{listed('vector', rows)} {verb} NaN or infinity; drop {which}")
    return theirs, False


def _odd(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which elements are too large or too small for an embedding."""
    with np.errstate(invalid="ignore"):
        size = np.abs(vectors)
        odd: NDArray[np.bool_] = ~((size < _HUGE) & ((size > 1 / _HUGE) | (size == 0)))
    return odd


def _examples(
    result: Explanations,
    texts: list[str],
    rows: NDArray[np.intp],
    gap: Gap,
    all_places: NDArray[np.intp],
) -> tuple[Example, ...]:
    """Return the explained texts whose vectors differ most."""
    if not result.found:
        return ()
    share, gaps = result.found[0].shown, gap.of_texts[result.places]
    best = np.argsort(-gaps * (share > IN_PART), kind="stable")[:_SHOWN]
    places = all_places[result.places]
    return tuple(
        Example(int(places[row]) + 1, texts[rows[places[row]]], float(gaps[row]), float(share[row]))
        for row in best
    )
