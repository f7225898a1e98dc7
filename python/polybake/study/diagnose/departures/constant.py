"""The departure that subtracts another constant vector, such as the mean of another corpus.

A model that subtracts a vector and then normalizes gives ``t = (x - c) / |x - c|`` of what stands
before, ``x``. Each ``t`` is known up to rounding, so ``(I - t t') (x - c) = 0``, which is linear in
``c``: least squares over some of the texts finds it, and the other texts judge it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.departures.stored import unit
from polybake.study.diagnose.dissection import Dissection
from polybake.study.diagnose.way import Vectors, Way

_NORMALIZE = "normalize()"

#: Fewer texts do not determine a constant.
_FEWEST = 3


@dataclass(frozen=True, eq=False)
class Subtracted:
    """Subtracts a vector from finished ones, and normalizes what is left where the model does."""

    vector: NDArray[np.float64]
    normalized: bool

    def __call__(self, x: Vectors) -> Vectors:
        """Return ``x`` minus the vector, in float32, normalized if the model normalizes."""
        rest = x - self.vector
        return np.asarray(unit(rest) if self.normalized else rest, np.float32)


def before_normalize(model: Dissection) -> Way:
    """The model's way without its last normalization, behind which no constant can be seen."""
    steps = model.manifest.steps
    return Way(left_out=len(steps) - 1) if steps[-1:] == (_NORMALIZE,) else Way()


def constant(model: Dissection, x: Vectors, theirs: Vectors) -> Departure | None:
    """Return the departure whose constant fits vectors best; None where they determine none.

    Both are of the same texts, ``[texts, dimension]``; ``x`` is what `before_normalize` gives.
    """
    if x.shape != theirs.shape or len(x) < _FEWEST:
        return None
    way = before_normalize(model)
    own, others = x.astype(np.float64), theirs.astype(np.float64)
    normalized = way.left_out is not None
    along = others / np.linalg.norm(others, axis=1, keepdims=True).clip(min=1e-30)
    vector = _behind_directions(own, along) if normalized else (own - others).mean(axis=0)
    length = float(np.linalg.norm(vector))
    typical = float(np.median(np.linalg.norm(own, axis=1)))
    name = f"subtracts a constant vector, {length / typical:.2g} times as long as one of a text"
    index = len(model.manifest.steps) - (2 if normalized else 1)
    if index >= 0 and model.manifest.steps[index].startswith("subtract("):
        name = (
            f"subtracts another vector than {model.step_name(index)}: they differ by "
            f"{length / typical:.2g} of the length of a text's vector"
        )
    return Departure(name, Way(left_out=way.left_out, stored=Subtracted(vector, normalized)))


def _behind_directions(x: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ``c`` with the least ``sum |(I - t t') (x - c)|²``."""
    squares = len(x) * np.eye(x.shape[1]) - t.T @ t
    along = t * np.sum(t * x, axis=1, keepdims=True)
    vector: NDArray[np.float64] = np.linalg.lstsq(squares, (x - along).sum(axis=0), rcond=None)[0]
    return vector
