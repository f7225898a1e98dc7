"""The best of many scores."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_top(top: int | None) -> None:
    """Refuse what is no number of answers, before anything is run for them."""
    if top is not None and not (isinstance(top, Integral) and top >= 1):
        raise ValueError(f"top is {top}; expected an integer of 1 or more")


def best(scores: NDArray[Any], top: int | None) -> list[int]:
    """The places of the highest scores, best first, of equal ones the first; at most ``top``."""
    return list(map(int, np.argsort(-scores, kind="stable")[:top]))
