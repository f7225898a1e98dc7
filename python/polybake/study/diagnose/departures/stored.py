"""Departures of stored vectors: rounded, cut or scaled after they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.way import Way

Floats = NDArray[np.floating[Any]]

_TINY = np.finfo(np.float32).tiny

#: Decimals that elements are rounded to; more decimals change less than the limit.
_DIGITS = (2, 3, 4)

#: The steps of int8 on either side of 0, and the fraction of a step that counts as none.
_STEPS, _NONE = 127, 1e-3


@dataclass(frozen=True)
class Rounding:
    """A rounding of each element to a grid that keeps the order of elements."""

    rounded: Callable[[Floats], Floats]

    def __call__(self, x: Floats) -> Floats:
        """Return the rounded elements, float32 of the same shape."""
        return np.asarray(self.rounded(x), np.float32)

    def holds(self, x: Floats) -> bool:
        """Return whether all elements lie on the grid."""
        return bool(np.isclose(self(x), x, rtol=1e-6, atol=0).all())


def unit(x: Floats) -> Floats:
    """Divide each vector along the last axis by its length."""
    norms: Floats = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.maximum(norms, _TINY)


def int8(x: Floats) -> Floats:
    """Round to 255 steps, of one size for the whole array."""
    scale = np.float32(max(np.abs(x).max(), _TINY) / 127)
    return np.asarray(np.rint(x / scale) * scale, np.float32)


def departures(dimension: int) -> Iterator[Departure]:
    """Yield the departures of stored vectors of a dimension."""
    changes: dict[str, Callable[[Floats], Floats]] = {
        "normalises vectors": unit,
        f"keeps the first {dimension} elements": lambda x: x[:, :dimension],
        f"keeps the first {dimension} elements and normalises": lambda x: unit(x[:, :dimension]),
        "stores vectors as int8": int8,
        "has the elements in reverse order": lambda x: x[:, ::-1],
    }
    for name, change in (changes | _ROUNDINGS).items():
        yield Departure(name, Way(stored=change))


def grid(vectors: Floats) -> Departure | None:
    """Return the coarsest rounding whose grid holds all elements of float32 vectors, if any."""
    size = np.float32(np.abs(vectors).max(initial=0) / _STEPS)
    if size > 0 and (np.abs(vectors / size - np.rint(vectors / size)) < _NONE).all():
        steps = Rounding(lambda x: np.rint(x / size) * size)
        return Departure("stores vectors as int8", Way(stored=steps))
    names = (name for name, rounding in _ROUNDINGS.items() if rounding.holds(vectors))
    return next((Departure(name, Way(stored=_ROUNDINGS[name])) for name in names), None)


def _digits(digits: int, x: Floats) -> Floats:
    return np.round(x.astype(np.float64), digits)


#: The roundings, coarser before finer.
_ROUNDINGS = {
    **{f"rounds elements to {size} decimals": Rounding(partial(_digits, size)) for size in _DIGITS},
    "stores vectors as bfloat16": Rounding(lambda x: x.astype(ml_dtypes.bfloat16)),
    "stores vectors as float16": Rounding(lambda x: x.astype(np.float16)),
}
