"""Place boxes in rows, so that every arrow goes down and passes no box.

Rows are centred, so that a chain is one straight line; an arrow that passes rows does so beside all
of them. Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System
Structures", 1981, for the ranks, and for the order within a row by barycenter.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate
from math import copysign
from statistics import fmean

_SWEEPS = 6
_GAP_ACROSS = 28.0
_GAP_DOWN = 72.0
#: Between two arrows that pass the same rows.
_LANE = 18.0
#: Between two arrows that meet a box, and from its middle to the last of them.
_LANDING, _REACH = 22.0, 45.0

Point = tuple[float, float]
Arrow = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Where everything is, in pixels.

    Attributes:
        places: The middle of each box's upper edge.
        paths: Where each arrow leaves its box, the ends of its line beside the rows that it passes,
            and where it meets the other box.
        width, height: Of the whole.
    """

    places: Sequence[Point]
    paths: Sequence[Sequence[Point]]
    width: float
    height: float


def lay_out(sizes: Sequence[Point], arrows: Sequence[Arrow], top: Collection[int]) -> Layout:
    """Place every box.

    Args:
        sizes: Width and height of each box, in pixels.
        arrows: Index of the upper and of the lower box; they form no circle.
        top: The boxes that stay in the first row.
    """
    above: dict[int, list[int]] = {box: [] for box in range(len(sizes))}
    below: dict[int, list[int]] = {box: [] for box in range(len(sizes))}
    for upper, lower in arrows:
        above[lower].append(upper)
        below[upper].append(lower)
    ranks = _ranks(above, below, top)
    rows: list[list[int]] = [[] for _ in range(max(ranks.values(), default=-1) + 1)]
    for box in above:
        rows[ranks[box]].append(box)
    x = _x(rows, ranks, sizes, above, below)
    heights = [max(sizes[box][1] for box in row) for row in rows]
    tops = list(accumulate((height + _GAP_DOWN for height in heights), initial=0.0))
    lanes = _lanes(rows, ranks, sizes, x, below)
    origin = {(a, b): lanes[a] if ranks[b] - ranks[a] > 1 else x[a] for a, b in arrows}
    paths = []
    for upper, lower in arrows:
        path = [(x[upper], tops[ranks[upper]] + sizes[upper][1])]
        if ranks[lower] - ranks[upper] > 1:
            lane, last = lanes[upper], ranks[lower] - 1
            path += [(lane, tops[ranks[upper] + 1]), (lane, tops[last] + heights[last])]
        order = sorted((origin[one, lower], one) for one in above[lower])
        straight = [at for at, (across, _) in enumerate(order) if abs(across - x[lower]) < 1]
        middle = straight[0] if straight else (len(order) - 1) / 2
        apart = min(_LANDING, _REACH / max(middle, len(order) - 1 - middle, 1))
        landing = x[lower] + (order.index((origin[upper, lower], upper)) - middle) * apart
        paths.append([*path, (landing, tops[ranks[lower]])])
    left = min((0.0, *lanes.values(), *(x[box] - sizes[box][0] / 2 for box in x)))
    right = max((0.0, *lanes.values(), *(x[box] + sizes[box][0] / 2 for box in x)))
    return Layout(
        places=[(x[box] - left, tops[ranks[box]]) for box in above],
        paths=[[(across - left, down) for across, down in path] for path in paths],
        width=right - left,
        height=max(tops[-1] - _GAP_DOWN, 0.0),
    )


def _ranks(
    above: Mapping[int, list[int]], below: Mapping[int, list[int]], top: Collection[int]
) -> dict[int, int]:
    """The row of each box: below all that lead to it, and a start right above its first use."""
    ranks: dict[int, int] = {}
    for box in TopologicalSorter(above).static_order():
        ranks[box] = max((ranks[one] + 1 for one in above[box]), default=0)
    for box in above:
        if box not in top and below[box] and not above[box]:
            ranks[box] = min(ranks[one] for one in below[box]) - 1
    return ranks


def _x(
    rows: Sequence[list[int]],
    ranks: Mapping[int, int],
    sizes: Sequence[Point],
    above: Mapping[int, list[int]],
    below: Mapping[int, list[int]],
) -> dict[int, float]:
    """The middle of each box; a row is ordered by its neighbours, down and up in turn."""
    x = dict.fromkeys(above, 0.0)

    def wanted(box: int, near: Sequence[int]) -> float:
        """Among equals, what has arrows that pass rows belongs outside."""
        passing = sum(abs(ranks[one] - ranks[box]) > 1 for one in near)
        return fmean(x[one] for one in near) + copysign(passing, x[box]) if near else x[box]

    for sweep in range(_SWEEPS):
        near, ordered = (below, rows[::-1]) if sweep % 2 else (above, rows)
        for row in ordered:
            keys = {box: wanted(box, near[box]) for box in row}
            row.sort(key=keys.__getitem__)
            left = -(sum(sizes[box][0] for box in row) + _GAP_ACROSS * (len(row) - 1)) / 2
            for box in row:
                x[box] = left + sizes[box][0] / 2
                left += sizes[box][0] + _GAP_ACROSS
    return x


def _lanes(
    rows: Sequence[list[int]],
    ranks: Mapping[int, int],
    sizes: Sequence[Point],
    x: Mapping[int, float],
    below: Mapping[int, list[int]],
) -> dict[int, float]:
    """Where a box's arrows pass rows: all on one side, beside whatever is passed there."""
    halves = [sum(sizes[box][0] + _GAP_ACROSS for box in row) / 2 for row in rows]
    far = {box: [one for one in below[box] if ranks[one] - ranks[box] > 1] for box in below}
    leaning = {box: x[box] + fmean(x[one] for one in some) for box, some in far.items() if some}
    sides: dict[int, list[int]] = {1: [], -1: []}
    for box in sorted(leaning, key=lambda box: -abs(leaning[box])):
        emptier = len(sides[-1]) - len(sides[1])
        sides[1 if (leaning[box] or emptier) >= 0 else -1].append(box)
    lanes = {}
    for side, boxes in sides.items():
        ends = {box: max(ranks[one] for one in far[box]) for box in boxes}
        nearest = max((max(halves[ranks[box] + 1 : ends[box]]) for box in boxes), default=0.0)
        for place, box in enumerate(sorted(boxes, key=lambda box: (abs(x[box]), ends[box]))):
            lanes[box] = side * (nearest + _GAP_ACROSS / 2 + _LANE * place)
    return lanes
