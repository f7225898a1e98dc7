"""The texts that departures are tried on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: So many are tried, however long.
_SOME = 4


def chosen(
    gaps: NDArray[np.float64], lengths: NDArray[np.intp], most: int, tokens: int
) -> NDArray[np.intp]:
    """The places of large gaps, and of as many others, while they are not too many tokens.

    The longest text is the first of them, as limits show in it alone, unless it is most of that.

    Args:
        gaps: Of each text.
        lengths: Tokens of each text.
        most: So many places at most.
        tokens: Of all of them, but for the first few.
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
