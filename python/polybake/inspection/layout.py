"""Place boxes in rows, so that every arrow goes down and passes no box.

Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System
Structures", 1981: ranks, places of their own for long arrows, order by barycenter, coordinates.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

_SWEEPS = 24
_GAP_ACROSS = 28.0
_GAP_DOWN = 72.0
#: Kept free for an arrow that passes a row of boxes.
_LANE = 18.0


@dataclass(eq=False)
class Place:
    """One box, or the lane of one arrow through a row.

    Attributes:
        width, height: In pixels; the height of a lane is its row's.
        x, y: The middle of the upper edge, in pixels.
        lane: Whether an arrow passes here and there is no box.
    """

    width: float
    height: float = 0.0
    x: float = 0.0
    y: float = 0.0
    lane: bool = False
    above: list[Place] = field(default_factory=list)
    below: list[Place] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """Where everything is.

    Attributes:
        places: Of the boxes, in their order.
        lanes: Of the arrows that pass rows.
        width, height: Of the whole, in pixels.
    """

    places: Sequence[Place]
    lanes: Sequence[Place]
    width: float
    height: float


def lay_out(
    sizes: Sequence[tuple[float, float]], arrows: Sequence[tuple[int, int]], top: Sequence[int]
) -> Layout:
    """Place every box.

    Args:
        sizes: Width and height of each box, in pixels.
        arrows: Index of the upper and of the lower box; they form no circle.
        top: The boxes that stay in the first row.
    """
    ranks = _ranks(len(sizes), arrows, frozenset(top))
    places = [Place(width, height) for width, height in sizes]
    rows: list[list[Place]] = [[] for _ in range(max(ranks, default=0) + 1)]
    for place, rank in zip(places, ranks, strict=True):
        rows[rank].append(place)
    lanes = _connect(places, ranks, arrows, rows)
    _order(rows)
    _set_x(rows)
    height = _set_y(rows)
    left = min((one.x - one.width / 2 for row in rows for one in row), default=0.0)
    for row in rows:
        for one in row:
            one.x -= left
    width = max((one.x + one.width / 2 for row in rows for one in row), default=0.0)
    return Layout(places, lanes, width, height)


def _ranks(count: int, arrows: Sequence[tuple[int, int]], top: frozenset[int]) -> list[int]:
    """The row of each box: below all that lead to it, and a start right above its first use."""
    below: Mapping[int, list[int]] = defaultdict(list)
    waiting = [0] * count
    for upper, lower in arrows:
        below[upper].append(lower)
        waiting[lower] += 1
    starts = [box for box in range(count) if not waiting[box]]
    ranks, ready = [0] * count, list(starts)
    while ready:
        box = ready.pop()
        for lower in below[box]:
            ranks[lower] = max(ranks[lower], ranks[box] + 1)
            waiting[lower] -= 1
            if not waiting[lower]:
                ready.append(lower)
    for box in starts:
        if box not in top and below[box]:
            ranks[box] = min(ranks[lower] for lower in below[box]) - 1
    return ranks


def _connect(
    places: Sequence[Place],
    ranks: Sequence[int],
    arrows: Sequence[tuple[int, int]],
    rows: Sequence[list[Place]],
) -> list[Place]:
    """Link the boxes row by row; arrows from one box share the lanes that they can."""
    lanes: dict[tuple[int, int], Place] = {}
    for upper, lower in arrows:
        above = places[upper]
        for rank in range(ranks[upper] + 1, ranks[lower]):
            lane = lanes.get((upper, rank))
            if lane is None:
                lane = lanes[upper, rank] = Place(_LANE, lane=True)
                rows[rank].append(lane)
                _link(above, lane)
            above = lane
        _link(above, places[lower])
    return list(lanes.values())


def _link(above: Place, below: Place) -> None:
    above.below.append(below)
    below.above.append(above)


def _order(rows: Sequence[list[Place]]) -> None:
    """Sort each row by the mean position of its neighbours, down and up in turn."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        position = {one: float(at) for row in rows for at, one in enumerate(row)}
        for row in rows if down else reversed(rows):
            keys = {}
            for one in row:
                near = one.above if down else one.below
                keys[one] = fmean(position[other] for other in near) if near else position[one]
            row.sort(key=keys.__getitem__)
            position |= {one: float(at) for at, one in enumerate(row)}


def _set_x(rows: Sequence[list[Place]]) -> None:
    """Move each place towards its neighbours in other rows as far as its own row lets it."""
    for row in rows:
        _spread(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        # The last sweep goes down, which leaves a box without a neighbour right below its origin.
        down = sweep % 2 == 1
        for row in rows if down else reversed(rows):
            near = [one.above if down else one.below for one in row]
            _spread(
                row,
                [
                    fmean(other.x for other in others) if others else one.x
                    for one, others in zip(row, near, strict=True)
                ],
            )


def _spread(row: Sequence[Place], wanted: Sequence[float]) -> None:
    """The places nearest to what is wanted that keep order and distance.

    Source: Barlow et al., 1972: pool adjacent violators.
    """
    offsets, blocks = [0.0], list[list[float]]()
    for left, right in itertools.pairwise(row):
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + _GAP_ACROSS)
    for want, offset in zip(wanted, offsets, strict=False):
        blocks.append([want - offset])
        while len(blocks) > 1 and fmean(blocks[-2]) >= fmean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    levels = [fmean(block) for block in blocks for _ in block]
    for one, level, offset in zip(row, levels, offsets, strict=False):
        one.x = level + offset


def _set_y(rows: Sequence[list[Place]]) -> float:
    """Put the rows below each other; the height of them all."""
    y = 0.0
    for row in rows:
        height = max((one.height for one in row), default=0.0)
        for one in row:
            one.y = y
            if one.lane:
                one.height = height
        y += height + _GAP_DOWN
    return y - _GAP_DOWN
