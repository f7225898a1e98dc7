"""Departures of stored vectors: rounded, cut or scaled after they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import ml_dtypes
import numpy as np

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.rounding import Floats, int8, unit
from polybake.study.diagnose.way import Way

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


def departures(dimension: int) -> Iterator[Departure]:
    """Yield the departures of stored vectors.

    Args:
        dimension: The dimension of the vectors to explain.
    """
    found: dict[str, Callable[[Floats], Floats]] = {
        "normalises vectors": unit,
        f"keeps the first {dimension} elements": lambda x: x[:, :dimension],
        f"keeps the first {dimension} elements and normalises": lambda x: unit(x[:, :dimension]),
        "stores vectors as int8": int8,
        "has the elements in reverse order": lambda x: x[:, ::-1],
    }
    for name, change in (found | _ROUNDINGS).items():
        yield Departure(name, Way(stored=change))


def grid(vectors: Floats) -> Departure | None:
    """Return the coarsest rounding whose grid holds all elements; None if no grid does.

    Args:
        vectors: The vectors to explain, float32 ``[texts, dimension]``.
    """
    size = np.float32(np.abs(vectors).max(initial=0) / _STEPS)
    if size > 0 and (np.abs(vectors / size - np.rint(vectors / size)) < _NONE).all():
        steps = Rounding(lambda x: np.rint(x / size) * size)
        return Departure("stores vectors as int8", Way(stored=steps))
    held = (name for name, one in _ROUNDINGS.items() if one.holds(vectors))
    return next((Departure(name, Way(stored=_ROUNDINGS[name])) for name in held), None)


def _digits(digits: int, x: Floats) -> Floats:
    return np.round(x.astype(np.float64), digits)


#: The roundings, coarser before finer.
_ROUNDINGS = {
    **{f"rounds elements to {one} decimals": Rounding(partial(_digits, one)) for one in _DIGITS},
    "stores vectors as bfloat16": Rounding(lambda x: x.astype(ml_dtypes.bfloat16)),
    "stores vectors as float16": Rounding(lambda x: x.astype(np.float16)),
}
