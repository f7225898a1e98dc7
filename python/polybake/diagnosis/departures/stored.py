"""Vectors that were rounded, cut or scaled once they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import ml_dtypes
import numpy as np

from polybake.diagnosis.departures.departure import Departure
from polybake.diagnosis.departures.rounding import Floats, int8, unit
from polybake.diagnosis.way import Way


def departures(dimension: int) -> Iterator[Departure]:
    """Those of vectors.

    Args:
        dimension: Of the vectors that are to be explained.
    """
    found: dict[str, Callable[[Floats], Floats]] = {
        "normalises vectors": unit,
        f"keeps the first {dimension} elements": lambda x: x[:, :dimension],
        f"keeps the first {dimension} elements and normalises": lambda x: unit(x[:, :dimension]),
        "stores vectors as float16": lambda x: x.astype(np.float16).astype(np.float32),
        "stores vectors as bfloat16": lambda x: x.astype(ml_dtypes.bfloat16).astype(np.float32),
        "stores vectors as int8": int8,
        "has the elements in reverse order": lambda x: x[:, ::-1],
    }
    for digits in (2, 3, 4):
        found[f"rounds elements to {digits} decimals"] = partial(_rounded, digits)
    for name, change in found.items():
        yield Departure(name, Way(stored=change))


def _rounded(digits: int, x: Floats) -> Floats:
    return np.round(x, digits)
