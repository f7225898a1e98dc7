"""Describe which rows hold zeros or other texts' vectors, and which texts have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

#: The most runs, texts or rows that are named; the others are counted.
_NAMED = 4

RowPlaces = NDArray[np.intp]


def described(found: RowPlaces, zeros: RowPlaces) -> tuple[str, ...]:
    """Describe the rows in lines; empty if each row holds its own text's vector.

    Args:
        found: The result of `order`; the lines count rows and texts from 1.
        zeros: The rows that are all zeros.
    """
    rows = np.arange(len(found))
    said = []
    if len(zeros) == len(found):
        said.append("all rows are zeros")
    elif len(zeros):
        said.append(f"{listed('row', zeros)} {'is' if len(zeros) == 1 else 'are'} zeros")
    if (found == rows).all():
        return tuple(said)
    return (*said, *_pattern(found, rows), *_foreign(found), *_counts(found))


def _pattern(found: RowPlaces, rows: RowPlaces) -> Iterator[str]:
    known = found >= 0
    for size in {int(one) + 1 for one in found[:1] if one > 0}:
        first = rows // size * size
        if (found == first + np.minimum(first + size, len(rows)) - 1 - rows)[known].all():
            whole = size >= len(rows)
            yield "all rows are in reverse order" if whole else f"batches of {size} are reversed"
            return
    swapped = [row for row in map(int, rows[known & (found != rows)]) if found[found[row]] == row]
    runs = _runs(found, rows)
    if swapped and len(swapped) == sum(last - first for first, last, _ in runs):
        pairs = [(row + 1, int(found[row]) + 1) for row in swapped if row < found[row]]
        yield from (f"rows {one} and {other} are swapped" for one, other in pairs[:_NAMED])
        if len(pairs) > _NAMED:
            yield f"and {len(pairs) - _NAMED} more pairs of rows are swapped"
        return
    if len(runs) <= _NAMED:
        yield from (_run(*one, len(rows)) for one in runs)
        return
    moved = rows[known & (found != rows)]
    shown = ", ".join(f"row {row + 1} is text {found[row] + 1}'s" for row in moved[:_NAMED])
    yield f"{len(moved)} rows are in another order: {shown}, and so on"


def _runs(found: RowPlaces, rows: RowPlaces) -> list[tuple[int, int, int]]:
    """Return each moved run: its first row, the row after its last, and the offset of its texts."""
    key = np.where(found < 0, 0, found - rows)
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


def _foreign(found: RowPlaces) -> Iterator[str]:
    """Describe rows that hold no given text's vector."""
    rows = np.flatnonzero(found < 0)
    if len(rows):
        yield f"{listed('row', rows)} {'is' if len(rows) == 1 else 'are'} none of these texts'"


def _counts(found: RowPlaces) -> Iterator[str]:
    """Describe texts with several rows, and texts with none."""
    times = Counter(found[found >= 0].tolist())
    twice = [text for text, count in times.items() if count > 1]
    lost = [text for text in range(len(found)) if text not in times]
    if len(twice) == 1:
        where = np.flatnonzero(found == twice[0])
        yield f"the vector of text {twice[0] + 1} stands in {listed('row', where)}"
    elif twice:
        yield f"the vectors of {listed('text', np.asarray(twice))} stand in several rows"
    if lost:
        texts = listed("text", np.asarray(lost))
        one = len(lost) == 1
        yield f"the vector of {texts} is lost" if one else f"the vectors of {texts} are lost"


def listed(noun: str, places: RowPlaces) -> str:
    """Name places, from 1, such as ``rows 3, 4 and 9``; of many, only the first."""
    shown = [str(one + 1) for one in places[:_NAMED]]
    if len(places) > _NAMED:
        shown.append(f"{len(places) - _NAMED} more")
    if len(shown) == 1:
        return f"{noun} {shown[0]}"
    return f"{noun}s {', '.join(shown[:-1])} and {shown[-1]}"
