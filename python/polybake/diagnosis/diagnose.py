"""Say why vectors are not the model file's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.diagnosis import Diagnosis, Example
from polybake.diagnosis.dissected import Dissected
from polybake.diagnosis.gap import Gap
from polybake.diagnosis.order import order
from polybake.diagnosis.search import Explanation, explanations
from polybake.errors import InputError
from polybake.modelfile.compare import LIMIT, relative_difference
from polybake.runtime.embedder import Embedder
from polybake.runtime.prompt import Prompt
from polybake.tokenization.tokenizer import BakedTokenizer

#: Texts whose own vectors are looked at: so many from the first on, and as many of all.
_LOOKED_AT = 128

#: Those of them that all departures are tried on, and their tokens; but some, however long.
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
    looked_at = _looked_at(len(texts))
    tell(f"embedding {len(looked_at)} texts")
    own = Embedder(model).embed([texts[place] for place in looked_at], prompt=name)
    rows = order(theirs[looked_at], own)
    kept, own = looked_at[rows >= 0], own[rows[rows >= 0]]
    beside = looked_at[rows[rows >= 0]]  # the texts whose vectors these are
    moved = int((rows != np.arange(len(rows))).sum())
    alike = own.shape[1] == theirs.shape[1]
    difference = relative_difference(theirs[kept], own) if alike else None
    found: tuple[Explanation, ...] = ()
    examples: tuple[Example, ...] = ()
    if difference is None or difference > LIMIT:
        gaps = Gap(theirs[kept], own).of_texts
        tried = _tried(gaps, dissected.tokenizer, [texts[place] for place in beside])
        chosen = [texts[place] for place in beside[tried]]
        found = tuple(explanations(dissected, chosen, theirs[kept[tried]], name, tell))
        examples = _examples(found, chosen, kept[tried], gaps[tried])
    return Diagnosis(len(texts), len(looked_at), difference, swapped, moved, found, examples)


def _looked_at(count: int) -> NDArray[np.intp]:
    """Neighbours, as rows are often shifted, and what is spread over all."""
    spread = np.linspace(0, count - 1, min(count, _LOOKED_AT)).astype(int)
    return np.unique(np.concatenate([np.arange(min(count, _LOOKED_AT)), spread]))


def _tried(
    gaps: NDArray[np.float64], tokenizer: BakedTokenizer, texts: list[str]
) -> NDArray[np.intp]:
    """The places of large gaps, and of as many others, while they are not too many tokens.

    The longest text, to whose length others may have padded a whole batch, is the first of them.
    """
    worst = np.argsort(-gaps, kind="stable")
    spread = np.linspace(0, len(gaps) - 1, min(len(gaps), _TRIED)).astype(int)
    lengths = [len(row) for row in tokenizer.encode(texts)]
    longest = int(np.argmax(lengths))
    short = lengths[longest] <= _TOKENS // _SOME  # as all may be padded to it
    kept = {longest: lengths[longest]} if short else {}
    for place in (int(one) for both in zip(worst, spread, strict=False) for one in both):
        few = len(kept) < _SOME or sum(kept.values()) + lengths[place] <= _TOKENS
        if few and len(kept) < _TRIED:
            kept[place] = lengths[place]
    return np.asarray(sorted(kept))


def _in_order(theirs: NDArray[np.float32]) -> tuple[NDArray[np.float32], bool]:
    """The vectors, with the bytes of each float in this machine's order."""
    odd, other = _odd(theirs), theirs.byteswap()
    if odd.mean() > _ODD and _odd(other).mean() < _ODD:
        return other, True
    wrong = ~np.isfinite(theirs).all(axis=1)
    if wrong.any():
        raise InputError(f"vector {int(np.argmax(wrong)) + 1} holds NaN or infinity; drop it")
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
