"""Say why vectors are not the model file's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.diagnosis import Diagnosis, Example
from polybake.diagnosis.dissected import Dissected
from polybake.diagnosis.gap import Gap
from polybake.diagnosis.moved import described, listed
from polybake.diagnosis.order import order
from polybake.diagnosis.search import Explanation, explanations
from polybake.errors import InputError
from polybake.modelfile.compare import LIMIT, relative_difference
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt

#: Texts that are embedded between two words of it.
_WINDOW = 1024

#: Texts that departures are tried on, and their tokens; but some, however long.
_TRIED, _TOKENS, _SOME = 24, 2048, 4

#: No embedding has such elements, nor their inverses; of floats whose bytes are read in the other
#: order a good part is such.
_HUGE, _ODD = 1e18, 0.05

#: Texts that show an explanation.
_SHOWN = 3


def diagnose(
    model: Path,
    texts: list[str],
    theirs: NDArray[np.float32],
    prompt: Prompt,
    tell: Callable[[str], None] = lambda _: None,
) -> Diagnosis:
    """Compare vectors with a model file's own, and try what explains the difference.

    Args:
        model: A baked model file of float32 embeddings.
        texts: One for each row of ``theirs``.
        theirs: ``[texts, dimension]``.
        prompt: What the file's own vectors have.
        tell: Told what begins.

    Raises:
        InputError: not such a file, it has no such prompt, or a vector holds NaN or infinity.
    """
    dissected = Dissected.read(model)
    theirs, swapped = _in_order(theirs)
    name = prompt.contract(dissected.manifest.contract).default_prompt
    own, lengths = _own(model, texts, name, tell)
    zeros = ~theirs.any(axis=1) & own.any(axis=1)
    rows = order(theirs, own)
    kept = np.flatnonzero((rows >= 0) & ~zeros)
    beside = rows[kept]  # the texts whose vectors these are
    alike = own.shape[1] == theirs.shape[1]
    difference = relative_difference(theirs[kept], own[beside]) if alike else None
    found: tuple[Explanation, ...] = ()
    examples: tuple[Example, ...] = ()
    if len(kept) and (difference is None or difference > LIMIT):
        gaps = Gap(theirs[kept], own[beside]).of_texts
        tried = _tried(gaps, lengths[beside])
        chosen = [texts[place] for place in beside[tried]]
        found = tuple(explanations(dissected, chosen, theirs[kept[tried]], name, tell))
        examples = _examples(found, chosen, kept[tried], gaps[tried])
    astray = described(rows, np.flatnonzero(zeros))
    moved = int((rows != np.arange(len(rows))).sum())
    return Diagnosis(
        len(texts), difference, swapped, int(zeros.sum()), moved, astray, found, examples
    )


def _own(
    model: Path, texts: list[str], prompt: str | None, tell: Callable[[str], None]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The file's own vectors of all texts, and the tokens of each."""
    embedder = Embedder(model)
    found, lengths = [], []
    for first in range(0, len(texts), _WINDOW):
        tell(f"embedding all {len(texts)} texts, {first} done")
        rows = embedder.tokenize(texts[first : first + _WINDOW], prompt=prompt)
        lengths += map(len, rows)
        found.append(embedder.runner.embed(rows, prompt))
    return np.concatenate(found), np.asarray(lengths)


def _tried(gaps: NDArray[np.float64], lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """The places of large gaps, and of as many others, while they are not too many tokens.

    The longest text, to whose length others may have padded a whole batch, is the first of them.
    """
    worst = np.argsort(-gaps, kind="stable")
    spread = np.linspace(0, len(gaps) - 1, min(len(gaps), _TRIED)).astype(int)
    longest = int(np.argmax(lengths))
    short = lengths[longest] <= _TOKENS // _SOME  # as all may be padded to it
    kept = {longest: int(lengths[longest])} if short else {}
    for place in (int(one) for both in zip(worst, spread, strict=False) for one in both):
        few = len(kept) < _SOME or sum(kept.values()) + lengths[place] <= _TOKENS
        if few and len(kept) < _TRIED:
            kept[place] = int(lengths[place])
    return np.asarray(sorted(kept))


def _in_order(theirs: NDArray[np.float32]) -> tuple[NDArray[np.float32], bool]:
    """The vectors, with the bytes of each float in this machine's order."""
    odd, other = _odd(theirs), theirs.byteswap()
    if odd.mean() > _ODD and _odd(other).mean() < _ODD:
        return other, True
    wrong = np.flatnonzero(~np.isfinite(theirs).all(axis=1))
    if len(wrong):
        verb, which = ("holds", "it") if len(wrong) == 1 else ("hold", "them")
        raise InputError(f"{listed('vector', wrong)} {verb} NaN or infinity; drop {which}")
    return theirs, False


def _odd(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The elements that no embedding has."""
    with np.errstate(invalid="ignore"):
        size = np.abs(vectors)
        odd: NDArray[np.bool_] = ~((size < _HUGE) & ((size > 1 / _HUGE) | (size == 0)))
    return odd


def _examples(
    found: tuple[Explanation, ...],
    texts: list[str],
    rows: NDArray[np.intp],
    gaps: NDArray[np.float64],
) -> tuple[Example, ...]:
    if not found:
        return ()
    shown = found[0].shown
    best = np.argsort(-shown * gaps, kind="stable")[:_SHOWN]
    return tuple(
        Example(int(rows[one]) + 1, texts[one], float(gaps[one]), float(shown[one])) for one in best
    )
