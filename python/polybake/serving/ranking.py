"""Scores in their order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def ranking(scores: NDArray[Any]) -> list[tuple[int, Any]]:
    """Return the places of scores with the scores, best first; equal scores in their order."""
    return [(int(index), scores[index]) for index in np.argsort(-scores, kind="stable")]
