"""Find vectors that stand beside another text than their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.departures.rounding import unit

#: The least cosine of a text's two vectors if only their order differs; and how much nearer a
#: vector must be to another text's than to its own if something else differs, too.
_SAME, _NEARER = 0.99, 0.02

#: Two vectors with this cosine have the same direction, and a cosine must be this much larger to
#: count as such; float32 changes a cosine by far less.
_EXACT = 1 - 1e-6
_LESS = 1e-5

#: With this many texts it is no chance that each vector is another text's, and with this many
#: neighbouring rows no chance that their texts are neighbours, too.
_ENOUGH, _RUN = 8, 5

#: The rows whose cosines to all texts are held at a time.
_WINDOW = 1024

_Rows = NDArray[np.intp]


def order(theirs: NDArray[Any], own: NDArray[Any]) -> _Rows:
    """Return, for each vector, the text that it belongs to.

    Args:
        theirs: The vectors, ``[texts, dimension]``.
        own: The model's vectors; only the dimensions that both have are compared.

    Returns:
        ``[texts]``, -1 for a vector of no text; the rows' own numbers if they are in order. A
        text whose vector stands in two rows is returned twice.
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
    ended = moved & (found == rows) & _beside(sure)  # a run ends at a text that is missing here
    result: _Rows = np.where(taken | ended, -1, found)
    return result


def _nearest(
    given: NDArray[Any], ours: NDArray[Any], beside: NDArray[Any]
) -> tuple[_Rows, NDArray[Any]]:
    """Return each vector's nearest text and its cosine; the vector's own text if it is as near."""
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
    """Choose, among texts with equal vectors, the neighbour of the previous row's text."""
    found = nearest.copy()
    for row in map(int, np.flatnonzero(moved[1:]) + 1):
        for text in (found[row - 1] + 1, found[row - 1] - 1):
            if 0 <= text < len(ours) and given[row] @ ours[text] >= near[row] - (1 - _EXACT):
                found[row] = text
                break
    return found


def _runs(key: _Rows, moved: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which moved rows belong to a long enough run with one key."""
    ends = np.flatnonzero(np.diff(key) != 0) + 1
    groups = np.split(np.arange(len(key)), ends)
    long = [moved[one].all() and len(one) >= _RUN for one in groups]
    return np.repeat(np.asarray(long, bool), [len(one) for one in groups])


def _beside(sure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the neighbours of rows that surely are another text's."""
    wide = np.pad(sure, 1)
    return np.asarray(wide[:-2] | wide[2:], bool)


def _distinct(rows: _Rows) -> bool:
    """Return whether at least nine of ten rows are distinct; some texts may be missing."""
    return len({*rows.tolist()}) >= 0.9 * len(rows)
