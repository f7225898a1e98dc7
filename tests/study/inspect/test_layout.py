"""Boxes in rows: arrows go down, and nothing overlaps."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from polybake.study.inspect.layout import BOX, lay_out

WIDTH = 100.0

Graph = tuple[list[float], list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Boxes of any width, and arrows from a lower to a higher number."""
    count = draw(st.integers(1, 12))
    widths = draw(st.lists(st.floats(120, 300), min_size=count, max_size=count))
    pairs = list(itertools.combinations(range(count), 2))
    arrows = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return widths, arrows


@given(graphs())
def test_nothing_overlaps_and_all_arrows_go_down(graph: Graph) -> None:
    """Boxes of any acyclic graph lie apart, inside the picture, and beside arrows."""
    widths, arrows = graph
    layout = lay_out(widths, arrows, [])
    boxes = [
        (x - width / 2, y, x + width / 2, y + BOX)
        for (x, y), width in zip(layout.places, widths, strict=True)
    ]
    for one, other in itertools.combinations(boxes, 2):
        assert one[2] < other[0] or other[2] < one[0] or one[3] < other[1] or other[3] < one[1]
    for left, up, right, down in boxes:
        assert -1e-6 <= left < right <= layout.width + 1e-6
        assert -1e-6 <= up < down <= layout.height + 1e-6
    for (upper, lower), path in zip(arrows, layout.paths, strict=True):
        assert path[0] == (layout.places[upper][0], boxes[upper][3])
        assert boxes[lower][0] < path[-1][0] < boxes[lower][2]
        assert path[-1][1] == boxes[lower][1]
        assert all(0 <= x <= layout.width for x, _ in path[1:-1])
        for (_, above), (_, below) in itertools.pairwise(path):
            assert above < below
        for left, up, right, down in boxes:
            for x, y in path[1:-1]:
                assert not (left <= x <= right and up <= y <= down)


def chain(*, top: list[int]) -> list[tuple[float, float]]:
    """The places of boxes with arrows 0 to 1 to 2 to 3, 0 to 3, and 4 to 3."""
    return list(lay_out([WIDTH] * 5, [(0, 1), (1, 2), (2, 3), (0, 3), (4, 3)], top).places)


def test_a_start_lies_above_its_use_or_at_the_top() -> None:
    """Inputs stay in the first row; what else has no origin comes down to where it is used."""
    down, up = chain(top=[0]), chain(top=[0, 4])
    assert down[4][1] == down[2][1]
    assert up[4][1] == up[0][1] == 0
