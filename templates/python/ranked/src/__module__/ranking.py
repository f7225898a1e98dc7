"""The best of many scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[Any], top: int | None) -> list[int]:
    """The places of the highest scores, best first, of equal ones the first; at most ``top``."""
    if top is not None and top < 1:
        raise ValueError(f"top is {top}; expected 1 or more")
    places: list[int] = np.argsort(-scores, kind="stable")[:top].tolist()
    return places
