"""Scores in their order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ranking(scores: NDArray[Any]) -> list[tuple[int, Any]]:
    """The places of scores with these, best first; of equal ones the first.

    Args:
        scores: ``[places]``.
    """
    return [(int(place), scores[place]) for place in np.argsort(-scores, kind="stable")]
