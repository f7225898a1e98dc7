"""Vectors that were rounded, cut or scaled once they were made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import ml_dtypes
import numpy as np

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.rounding import Floats, int8, unit
from polybake.study.diagnose.way import Way

#: Decimals to which elements are rounded; more leave less than the limit.
_DIGITS = (2, 3, 4)

#: Steps of an int8 on either side, and what is no part of a step.
_STEPS, _NONE = 127, 1e-3


@dataclass(frozen=True)
class Rounding:
    """Puts elements on a grid, each by itself; what lies higher never lands lower."""

    rounded: Callable[[Floats], Floats]

    def __call__(self, x: Floats) -> Floats:
        """The same shape."""
        return np.asarray(self.rounded(x), np.float32)

    def holds(self, x: Floats) -> bool:
        """Whether all elements lie on the grid."""
        return bool(np.isclose(self(x), x, rtol=1e-6, atol=0).all())


def departures(dimension: int) -> Iterator[Departure]:
    """Those of vectors.

    Args:
        dimension: Of the vectors that are to be explained.
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
    """The rounding whose values all elements have, the coarsest of them.

    Args:
        vectors: float32 ``[texts, dimension]`` that are to be explained.
    """
    size = np.float32(np.abs(vectors).max(initial=0) / _STEPS)
    if size > 0 and (np.abs(vectors / size - np.rint(vectors / size)) < _NONE).all():
        steps = Rounding(lambda x: np.rint(x / size) * size)
        return Departure("stores vectors as int8", Way(stored=steps))
    held = (name for name, one in _ROUNDINGS.items() if one.holds(vectors))
    return next((Departure(name, Way(stored=_ROUNDINGS[name])) for name in held), None)


def _digits(digits: int, x: Floats) -> Floats:
    return np.round(x.astype(np.float64), digits)


#: The coarser before the finer.
_ROUNDINGS = {
    **{f"rounds elements to {one} decimals": Rounding(partial(_digits, one)) for one in _DIGITS},
    "stores vectors as bfloat16": Rounding(lambda x: x.astype(ml_dtypes.bfloat16)),
    "stores vectors as float16": Rounding(lambda x: x.astype(np.float16)),
}
