"""Vectors that stand in another order than their texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.departures.rounding import unit

#: The cosine of vectors of one text, where nothing but their order differs; and how much nearer a
#: vector is to its own text's than to another's, where something else does, too.
_SAME, _NEARER = 0.99, 0.02

#: Texts from which on it is no chance that each vector has another text's beside it.
_ENOUGH = 8


def order(theirs: NDArray[Any], own: NDArray[Any]) -> NDArray[np.intp]:
    """Of each vector, the row of the model's own that it is beside.

    Args:
        theirs: ``[texts, dimension]``.
        own: The same shape, or of another dimension: what both have is compared.

    Returns:
        ``[texts]``, -1 where that is none of them; the rows themselves where they stand in order.
    """
    rows = np.arange(len(own))
    width = min(theirs.shape[1], own.shape[1])
    cosines = unit(theirs[:, :width]) @ unit(own[:, :width]).T
    nearest, near, beside = cosines.argmax(axis=1), cosines.max(axis=1), cosines[rows, rows]
    moved = near - beside > _NEARER
    if not (len(rows) >= _ENOUGH and moved.mean() > 1 / 2 and _distinct(nearest[moved])):
        moved &= near >= _SAME
        if moved.sum() == 1 or not _distinct(nearest[moved]):
            return rows
    found, nearness = np.where(moved, nearest, rows), np.where(moved, near, beside)
    best = np.full(len(rows), -np.inf)
    np.maximum.at(best, found, nearness)
    taken = nearness < best[found]  # by a vector that is nearer to it
    result: NDArray[np.intp] = np.where(taken, -1, found)
    return result


def _distinct(rows: NDArray[np.intp]) -> bool:
    """Nearly all are; of a part of all texts, some have none of their own."""
    return len({*rows.tolist()}) >= 0.9 * len(rows)
