"""Find vectors that stand beside another text than their own, and describe where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.study.diagnose.departures.stored import unit

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

#: The most runs, texts or rows that are named; the others are counted.
_NAMED = 4

_Rows = NDArray[np.intp]


def order(theirs: NDArray[Any], own: NDArray[Any]) -> _Rows:
    """Return, for each vector ``[texts, dimension]``, the text that it belongs to: ``[texts]``.

    It is -1 for a vector of no text, and the rows' own numbers if they are in order. A text whose
    vector stands in two rows is returned twice. Only dimensions that both have are compared.
    """
    rows = np.arange(len(own))
    width = min(theirs.shape[1], own.shape[1])
    unit_theirs, unit_own = unit(theirs[:, :width]), unit(own[:, :width])
    beside = (unit_theirs * unit_own).sum(axis=1)
    nearest, near = _nearest(unit_theirs, unit_own, beside)
    exact = (near >= _EXACT) & (near - beside > _LESS)
    moves = exact | (near - beside > _NEARER)
    nearest = np.where(moves, _running(unit_theirs, unit_own, nearest, near, moves), rows)
    sure = moves & (exact | _runs(nearest - rows, moves) | _runs(nearest + rows, moves))
    most = len(rows) >= _ENOUGH and moves.mean() > 1 / 2 and _distinct(nearest[moves])
    likely = moves if most else moves & (near >= _SAME)
    if likely.sum() > 1 and _distinct(nearest[likely]):
        texts = np.where(sure | likely, nearest, rows)
    else:
        texts = np.where(sure, nearest, rows)
    nearness = np.where(texts == rows, beside, near)
    best = np.full(len(rows), -np.inf)
    np.maximum.at(best, texts, nearness)
    defeats = (nearness < best[texts]) & ~sure & moves  # by a vector that is nearer to it
    ends = moves & (texts == rows) & _beside(sure)  # a run ends at a text that is missing here
    result: _Rows = np.where(defeats | ends, -1, texts)
    return result


def _nearest(
    unit_theirs: NDArray[Any], unit_own: NDArray[Any], beside: NDArray[Any]
) -> tuple[_Rows, NDArray[Any]]:
    """Return each vector's nearest text and its cosine; the vector's own text if it is as near."""
    nearest, near = np.arange(len(unit_own)), beside.copy()
    unsure = np.flatnonzero(beside < _EXACT)
    for first in range(0, len(unsure), _WINDOW):
        places = unsure[first : first + _WINDOW]
        cosines = unit_theirs[places] @ unit_own.T
        nearest[places], near[places] = cosines.argmax(axis=1), cosines.max(axis=1)
    return nearest, near


def _running(
    unit_theirs: NDArray[Any],
    unit_own: NDArray[Any],
    nearest: _Rows,
    near: NDArray[Any],
    moves: NDArray[np.bool_],
) -> _Rows:
    """Choose, among texts with equal vectors, the neighbour of the previous row's text."""
    result = nearest.copy()
    for row in map(int, np.flatnonzero(moves[1:]) + 1):
        for text in (result[row - 1] + 1, result[row - 1] - 1):
            if 0 <= text < len(unit_own) and unit_theirs[row] @ unit_own[text] >= near[row] - (
                1 - _EXACT
            ):
                result[row] = text
                break
    return result


def _runs(key: _Rows, moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which moved rows belong to a long enough run with one key."""
    ends = np.flatnonzero(np.diff(key) != 0) + 1
    groups = np.split(np.arange(len(key)), ends)
    long = [moves[group].all() and len(group) >= _RUN for group in groups]
    return np.repeat(np.asarray(long, bool), [len(group) for group in groups])


def _beside(sure: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the neighbours of rows that surely are another text's."""
    wide = np.pad(sure, 1)
    return np.asarray(wide[:-2] | wide[2:], bool)


def _distinct(rows: _Rows) -> bool:
    """Return whether at least nine of ten rows are distinct; some texts may be missing."""
    return len({*rows.tolist()}) >= 0.9 * len(rows)


def described(texts: _Rows, zeros: _Rows) -> tuple[str, ...]:
    """Describe the result of `order`, and rows of zeros, in lines that count from 1.

    There is none if each row holds its own text's vector.
    """
    rows = np.arange(len(texts))
    lines = []
    if len(zeros) == len(texts):
        lines.append("all rows are zeros")
    elif len(zeros):
        lines.append(f"{listed('row', zeros)} {'is' if len(zeros) == 1 else 'are'} zeros")
    if (texts == rows).all():
        return tuple(lines)
    return (*lines, *_pattern(texts, rows), *_foreign(texts), *_counts(texts))


def _pattern(texts: _Rows, rows: _Rows) -> Iterator[str]:
    mask = texts >= 0
    for size in {int(text) + 1 for text in texts[:1] if text > 0}:
        first = rows // size * size
        if (texts == first + np.minimum(first + size, len(rows)) - 1 - rows)[mask].all():
            whole = size >= len(rows)
            yield "all rows are in reverse order" if whole else f"batches of {size} are reversed"
            return
    swaps = [row for row in map(int, rows[mask & (texts != rows)]) if texts[texts[row]] == row]
    runs = _offset_runs(texts, rows)
    if swaps and len(swaps) == sum(last - first for first, last, _ in runs):
        pairs = [(row + 1, int(texts[row]) + 1) for row in swaps if row < texts[row]]
        yield from (f"rows {row} and {other} are swapped" for row, other in pairs[:_NAMED])
        if len(pairs) > _NAMED:
            yield f"and {len(pairs) - _NAMED} more pairs of rows are swapped"
        return
    if len(runs) <= _NAMED:
        yield from (_run(*run, len(rows)) for run in runs)
        return
    strays = rows[mask & (texts != rows)]
    sample = ", ".join(f"row {row + 1} is text {texts[row] + 1}'s" for row in strays[:_NAMED])
    yield f"{len(strays)} rows are in another order: {sample}, and so on"


def _offset_runs(texts: _Rows, rows: _Rows) -> list[tuple[int, int, int]]:
    """Return each moved run: its first row, the row after its last, and the offset of its texts."""
    key = np.where(texts < 0, 0, texts - rows)
    ends = [*np.flatnonzero(np.diff(key)) + 1, len(rows)]
    starts = [0, *ends[:-1]]
    return [
        (int(first), int(last), int(key[first]))
        for first, last in zip(starts, ends, strict=True)
        if key[first]
    ]


def _run(first: int, last: int, by: int, count: int) -> str:
    if last - first == 1:
        return f"row {first + 1} is text {first + by + 1}'s"
    texts = {-1: "the previous text's", 1: "the next text's"}
    where = "before" if by < 0 else "behind"
    whose = texts.get(by, f"that of the text {abs(by)} places {where}")
    if last == count:
        return f"from row {first + 1} on, each is {whose}"
    return f"rows {first + 1} to {last} are each {whose}"


def _foreign(texts: _Rows) -> Iterator[str]:
    """Describe rows that hold no given text's vector."""
    rows = np.flatnonzero(texts < 0)
    if len(rows):
        yield f"{listed('row', rows)} {'is' if len(rows) == 1 else 'are'} none of these texts'"


def _counts(texts: _Rows) -> Iterator[str]:
    """Describe texts with several rows, and texts with none."""
    times = Counter(texts[texts >= 0].tolist())
    twice = [text for text, count in times.items() if count > 1]
    lost = [text for text in range(len(texts)) if text not in times]
    if len(twice) == 1:
        where = np.flatnonzero(texts == twice[0])
        yield f"the vector of text {twice[0] + 1} stands in {listed('row', where)}"
    elif twice:
        yield f"the vectors of {listed('text', np.asarray(twice))} stand in several rows"
    if lost:
        names = listed("text", np.asarray(lost))
        single = len(lost) == 1
        yield f"the vector of {names} is lost" if single else f"the vectors of {names} are lost"


def listed(noun: str, places: _Rows) -> str:
    """Name places, from 1, such as ``rows 3, 4 and 9``; of many, only the first."""
    names = [str(index + 1) for index in places[:_NAMED]]
    if len(places) > _NAMED:
        names.append(f"{len(places) - _NAMED} more")
    if len(names) == 1:
        return f"{noun} {names[0]}"
    return f"{noun}s {', '.join(names[:-1])} and {names[-1]}"
