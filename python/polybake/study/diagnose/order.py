"""Vectors that stand beside other texts than their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.departures.rounding import unit

#: The cosine of vectors of one text, where nothing but their order differs; and how much nearer a
#: vector is to another text's than to its own, where something else does, too.
_SAME, _NEARER = 0.99, 0.02

#: From here on two vectors have one direction; what float32 leaves of a cosine is far below.
_EXACT = 1 - 1e-6
_LESS = 1e-5

#: Texts from which on it is no chance that each vector has another text's beside it, and
#: neighbours from which on it is none that they have neighbours.
_ENOUGH, _RUN = 8, 5

#: Rows whose cosines to all texts are held at a time.
_WINDOW = 1024

_Rows = NDArray[np.intp]


def order(theirs: NDArray[Any], own: NDArray[Any]) -> _Rows:
    """Of each vector, the text whose own vector it is beside.

    Args:
        theirs: ``[texts, dimension]``.
        own: The same shape, or of another dimension: what both have is compared.

    Returns:
        ``[texts]``, -1 where that is none of them; the rows themselves where they stand in order.
        A text whose vector stands twice is given twice.
    """
    rows = np.arange(len(own))
    width = min(theirs.shape[1], own.shape[1])
    given, ours = unit(theirs[:, :width]), unit(own[:, :width])
    beside = (given * ours).sum(axis=1)
    nearest, near = _nearest(given, ours, beside)
    exact = (near >= _EXACT) & (near - beside > _LESS)
    moved = exact | (near - beside > _NEARER)
    nearest = np.where(moved, _running(given, ours, nearest, near, moved), rows)
    sure = moved & (exact | _runs(nearest - rows, moved) | _runs(nearest + rows, moved))
    most = len(rows) >= _ENOUGH and moved.mean() > 1 / 2 and _distinct(nearest[moved])
    likely = moved if most else moved & (near >= _SAME)
    if likely.sum() > 1 and _distinct(nearest[likely]):
        found = np.where(sure | likely, nearest, rows)
    else:
        found = np.where(sure, nearest, rows)
    nearness = np.where(found == rows, beside, near)
    best = np.full(len(rows), -np.inf)
    np.maximum.at(best, found, nearness)
    taken = (nearness < best[found]) & ~sure & moved  # by a vector that is nearer to it
    ended = moved & (found == rows) & _beside(sure)  # where a run ends at a text that is not here
    result: _Rows = np.where(taken | ended, -1, found)
    return result


def _nearest(
    given: NDArray[Any], ours: NDArray[Any], beside: NDArray[Any]
) -> tuple[_Rows, NDArray[Any]]:
    """The text that each vector is nearest to, and its cosine; its own, where that is all one."""
    nearest, near = np.arange(len(ours)), beside.copy()
    unsure = np.flatnonzero(beside < _EXACT)
    for first in range(0, len(unsure), _WINDOW):
        places = unsure[first : first + _WINDOW]
        cosines = given[places] @ ours.T
        nearest[places], near[places] = cosines.argmax(axis=1), cosines.max(axis=1)
    return nearest, near


def _running(
    given: NDArray[Any],
    ours: NDArray[Any],
    nearest: _Rows,
    near: NDArray[Any],
    moved: NDArray[np.bool_],
) -> _Rows:
    """Of texts that have one vector, the one beside the text of the row before."""
    found = nearest.copy()
    for row in map(int, np.flatnonzero(moved[1:]) + 1):
        for text in (found[row - 1] + 1, found[row - 1] - 1):
            if 0 <= text < len(ours) and given[row] @ ours[text] >= near[row] - (1 - _EXACT):
                found[row] = text
                break
    return found


def _runs(key: _Rows, moved: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The moved rows that stand among enough neighbours of one key."""
    ends = np.flatnonzero(np.diff(key) != 0) + 1
    groups = np.split(np.arange(len(key)), ends)
    long = [moved[one].all() and len(one) >= _RUN for one in groups]
    return np.repeat(np.asarray(long, bool), [len(one) for one in groups])


def _beside(sure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The neighbours of rows that are surely another text's."""
    wide = np.pad(sure, 1)
    return np.asarray(wide[:-2] | wide[2:], bool)


def _distinct(rows: _Rows) -> bool:
    """Nearly all are; of a part of all texts, some have none of their own."""
    return len({*rows.tolist()}) >= 0.9 * len(rows)
