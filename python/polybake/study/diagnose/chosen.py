"""Choose the texts that departures are tried on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: This many texts are tried, however long they are.
_SOME = 4


def chosen(
    gaps: NDArray[np.float64], lengths: NDArray[np.intp], most: int, tokens: int
) -> NDArray[np.intp]:
    """Return the places of the largest gaps and of as many evenly spaced others.

    The longest text is taken first, as only it shows limits, unless it takes over half the tokens.

    Args:
        gaps: The gap of each text.
        lengths: The number of tokens of each text.
        most: The most places.
        tokens: The most tokens of all chosen texts, except for the first few.
    """
    worst = np.argsort(-gaps, kind="stable")
    spread = np.linspace(0, len(gaps) - 1, min(len(gaps), most)).astype(int)
    longest = int(np.argmax(lengths))
    short = lengths[longest] <= tokens // 2
    kept = {longest: int(lengths[longest])} if short else {}
    for place in (int(one) for both in zip(worst, spread, strict=False) for one in both):
        few = len(kept) < _SOME or sum(kept.values()) + lengths[place] <= tokens
        if few and len(kept) < most:
            kept[place] = int(lengths[place])
    return np.asarray(sorted(kept))
