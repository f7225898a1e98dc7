"""Boxes in rows: arrows go down, and nothing overlaps."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from polybake.inspection.layout import Layout, lay_out

SIZE = (100.0, 40.0)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    """Boxes of any size, and arrows from a lower to a higher number."""
    count = draw(st.integers(1, 12))
    side = st.floats(20, 300)
    sizes = draw(st.lists(st.tuples(side, side), min_size=count, max_size=count))
    pairs = list(itertools.combinations(range(count), 2))
    arrows = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return sizes, arrows


@given(graphs())
def test_nothing_overlaps_and_all_arrows_go_down(
    graph: tuple[list[tuple[float, float]], list[tuple[int, int]]],
) -> None:
    """Of any graph without circles, boxes and passing arrows lie apart and inside the picture."""
    sizes, arrows = graph
    layout = lay_out(sizes, arrows, [])
    for upper, lower in arrows:
        above, below = layout.places[upper], layout.places[lower]
        assert above.y + above.height < below.y
    everything = [*layout.places, *layout.lanes]
    for one, other in itertools.combinations(everything, 2):
        apart = abs(one.x - other.x) >= (one.width + other.width) / 2
        assert apart or one.y + one.height < other.y or other.y + other.height < one.y
    for place in everything:
        assert place.x - place.width / 2 >= -1e-6
        assert place.x + place.width / 2 <= layout.width + 1e-6
        assert 0 <= place.y <= place.y + place.height <= layout.height + 1e-6


def chain(*, top: list[int]) -> Layout:
    """0 to 1 to 2 to 3, 0 to 3, and 4 to 3."""
    return lay_out([SIZE] * 5, [(0, 1), (1, 2), (2, 3), (0, 3), (4, 3)], top)


def test_a_chain_is_straight() -> None:
    """A box with one origin lies right below it."""
    places = lay_out([SIZE, (300.0, 60.0), SIZE], [(0, 1), (1, 2)], []).places
    assert places[0].x == places[1].x == places[2].x


def test_a_long_arrow_has_a_lane_in_each_row() -> None:
    """It passes the boxes between its ends at their side."""
    layout = chain(top=[])
    assert [lane.y for lane in layout.lanes] == [layout.places[1].y, layout.places[2].y]
    assert layout.lanes[0].x != layout.places[1].x


def test_a_start_lies_above_its_use_or_at_the_top() -> None:
    """Inputs stay in the first row; what else has no origin comes down to where it is used."""
    down, up = chain(top=[0]), chain(top=[0, 4])
    assert down.places[4].y == down.places[2].y
    assert up.places[4].y == up.places[0].y == 0


def test_an_empty_picture() -> None:
    """No boxes have no size."""
    assert (lay_out([], [], []).width, lay_out([], [], []).places) == (0.0, [])
