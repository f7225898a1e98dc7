"""Place boxes in rows, so that every arrow goes down and crosses no box.

Rows are centred, so that a chain is a straight line. An arrow passes rows beside all of their
boxes. Source: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System
Structures", 1981, for the ranks, and for the order within a row by barycenter.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from math import copysign
from statistics import fmean

#: The height of a box, and the distance between the tops of two rows.
BOX, ROW = 56.0, 128.0

_SWEEPS = 6
_GAP = 28.0
#: The distance between two arrows that pass the same rows.
_LANE = 18.0
#: The distance between two arrows that meet a box, and the largest from the box's middle.
_LANDING, _REACH = 22.0, 45.0

Point = tuple[float, float]


@dataclass(frozen=True)
class Layout:
    """The places of all boxes and arrows, in pixels.

    Attributes:
        places: The middle of each box's upper edge.
        paths: The points of each arrow: where it leaves its box, the ends of its line beside the
            rows that it passes, and where it meets the other box.
        width, height: Size of the picture.
    """

    places: Sequence[Point]
    paths: Sequence[Sequence[Point]]
    width: float
    height: float


def lay_out(
    widths: Sequence[float], arrows: Sequence[tuple[int, int]], top: Collection[int]
) -> Layout:
    """Place every box and arrow.

    Args:
        widths: The width of each box, in pixels.
        arrows: The indices of each arrow's upper and lower box; the arrows form no circle.
        top: The boxes that stay in the first row.
    """
    graph = _Graph(widths, arrows, top)
    paths = []
    for upper, lower in arrows:
        first, last = graph.ranks[upper] + 1, graph.ranks[lower] - 1
        lane = graph.lanes.get(upper, 0.0)
        beside = [(lane, first * ROW), (lane, last * ROW + BOX)] if last >= first else []
        start, end = (graph.x[upper], (first - 1) * ROW + BOX), graph.landings(lower)[upper]
        paths.append([start, *beside, (end, (last + 1) * ROW)])
    sides = [x + side * widths[box] / 2 for box, x in graph.x.items() for side in (-1, 1)]
    left, *_, right = sorted((0.0, 0.0, *sides, *graph.lanes.values()))
    return Layout(
        places=[(x - left, graph.ranks[box] * ROW) for box, x in graph.x.items()],
        paths=[[(across - left, down) for across, down in path] for path in paths],
        width=right - left,
        height=max((len(graph.rows) - 1) * ROW + BOX, 0.0),
    )


class _Graph:
    """Boxes by index: their neighbours, rows, middles, and lanes beside the rows."""

    def __init__(
        self, widths: Sequence[float], arrows: Sequence[tuple[int, int]], top: Collection[int]
    ) -> None:
        self.widths = widths
        self.above: dict[int, list[int]] = {box: [] for box in range(len(widths))}
        self.below: dict[int, list[int]] = {box: [] for box in range(len(widths))}
        for upper, lower in arrows:
            self.above[lower].append(upper)
            self.below[upper].append(lower)
        self.ranks = self._ranks(top)
        self.rows: list[list[int]] = [[] for _ in range(max(self.ranks.values(), default=-1) + 1)]
        for box in self.above:
            self.rows[self.ranks[box]].append(box)
        self.x = dict.fromkeys(self.above, 0.0)
        for sweep in range(_SWEEPS):
            self._sort_rows(down=sweep % 2 == 0)
        self.lanes = self._lanes()

    def landings(self, lower: int) -> dict[int, float]:
        """Return where arrows meet a box, by the box above; a straight arrow stays straight."""
        origins = {
            upper: self.x[upper] if self._near(upper, lower) else self.lanes[upper]
            for upper in self.above[lower]
        }
        order = sorted(origins, key=lambda upper: (origins[upper], upper))
        straight = (at for at, one in enumerate(order) if abs(origins[one] - self.x[lower]) < 1)
        middle = next(straight, (len(order) - 1) / 2)
        apart = min(_LANDING, _REACH / max(middle, len(order) - 1 - middle, 1))
        return {u: self.x[lower] + (place - middle) * apart for place, u in enumerate(order)}

    def _near(self, one: int, other: int) -> bool:
        return abs(self.ranks[one] - self.ranks[other]) == 1

    def _ranks(self, top: Collection[int]) -> dict[int, int]:
        """Return each box's row: below all that lead to it; a start right above its first use."""
        ranks: dict[int, int] = {}
        for box in TopologicalSorter(self.above).static_order():
            ranks[box] = max((ranks[one] + 1 for one in self.above[box]), default=0)
        for box in self.above:
            if box not in top and self.below[box] and not self.above[box]:
                ranks[box] = min(ranks[one] for one in self.below[box]) - 1
        return ranks

    def _sort_rows(self, *, down: bool) -> None:
        """Order each row by the row above it, or below it, and centre it at 0."""
        near = self.above if down else self.below
        for row in self.rows if down else reversed(self.rows):
            keys = {box: self._wanted(box, near[box]) for box in row}
            row.sort(key=keys.__getitem__)
            left = -(sum(self.widths[box] for box in row) + _GAP * (len(row) - 1)) / 2
            for box in row:
                self.x[box] = left + self.widths[box] / 2
                left += self.widths[box] + _GAP

    def _wanted(self, box: int, neighbours: Sequence[int]) -> float:
        """Return where a box should lie; boxes with arrows that pass rows lie further outside."""
        if not neighbours:
            return self.x[box]
        passing = sum(not self._near(box, one) for one in neighbours)
        return fmean(self.x[one] for one in neighbours) + copysign(passing, self.x[box])

    def _lanes(self) -> dict[int, float]:
        """Return where a box's arrows pass rows: all on one side, beside the passed boxes."""
        halves = [sum(self.widths[box] + _GAP for box in row) / 2 for row in self.rows]
        ends: dict[int, int] = {}
        leaning: dict[int, float] = {}
        for box, below in self.below.items():
            far = [one for one in below if not self._near(box, one)]
            if far:
                ends[box] = max(self.ranks[one] for one in far)
                leaning[box] = self.x[box] + fmean(self.x[one] for one in far)
        sides: dict[int, list[int]] = {1: [], -1: []}
        for box in sorted(leaning, key=lambda box: -abs(leaning[box])):
            emptier = len(sides[-1]) - len(sides[1])
            sides[1 if (leaning[box] or emptier) >= 0 else -1].append(box)
        lanes: dict[int, float] = {}
        for side, boxes in sides.items():
            passed = (max(halves[self.ranks[box] + 1 : ends[box]]) for box in boxes)
            nearest = max(passed, default=0.0) + _GAP / 2
            boxes.sort(key=lambda box: (abs(self.x[box]), ends[box]))
            lanes |= {box: side * (nearest + _LANE * place) for place, box in enumerate(boxes)}
        return lanes
