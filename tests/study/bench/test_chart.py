"""Charts: every length is in proportion to its figure, and no name is markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from polybake.study.bench.chart import Bar, Point, bars, plot, stacked
from support.clients.hostile import HOSTILE


def elements(drawing: str, tag: str) -> list[ET.Element]:
    """The elements of a tag, except the ground."""
    found = ET.fromstring(drawing).iter(f"{{http://www.w3.org/2000/svg}}{tag}")  # noqa: S314
    return [one for one in found if one.get("class") != "ground"]


def numbers(drawing: str, tag: str, attribute: str) -> list[float]:
    return [float(one.attrib[attribute]) for one in elements(drawing, tag)]


def test_bars_are_in_proportion() -> None:
    """The longest takes the room; a row without a value has its text alone."""
    rows = [Bar("a", 0, [2.0], "2/s"), Bar("b", 1, [1.0], "1/s"), Bar("c", 1, [], "fail")]
    drawing = bars(rows)
    longest, half = numbers(drawing, "rect", "width")
    assert longest == pytest.approx(2 * half)
    assert [one.text for one in elements(drawing, "text")] == ["a", "2/s", "b", "1/s", "c", "fail"]
    assert {one.attrib["class"] for one in elements(drawing, "rect")} == {"c0", "c1"}


def test_several_values_are_marks_on_a_line() -> None:
    """A point at the first, and a stroke at each of the others."""
    drawing = bars([Bar("a", 0, [1.0, 2.0, 4.0], "")])
    (point,) = numbers(drawing, "circle", "cx")
    marks = numbers(drawing, "line", "x1")
    assert marks[0] == point
    assert (marks[2] - 220) / (marks[1] - 220) == pytest.approx(2)


def test_parts_fill_the_bar() -> None:
    """Parts stand side by side to the bar's end; small ones have a title instead of a figure."""
    drawing = stacked([("m", {"a": 0.5, "b": 0.47, "c": 0.03})])
    widths = numbers(drawing, "rect", "width")
    assert widths == pytest.approx([270, 253.8, 16.2], abs=0.1)
    assert numbers(drawing, "rect", "x") == pytest.approx([220, 490, 743.8], abs=0.1)
    assert [one.text for one in elements(drawing, "text")] == ["m", "50%", "47%"]
    assert "c: 3.0%" in [one.text for one in elements(drawing, "title")]


def test_a_logarithmic_axis() -> None:
    """Each doubling takes as much room; y begins at 0."""
    points = [Point(x, y, y) for x, y in ((128, 10), (256, 30), (512, 20))]
    drawing = plot([points], "tokens", "texts/s", x_ticks=[128, 256, 512])
    first, second, third = numbers(drawing, "circle", "cx")
    assert second - first == pytest.approx(third - second, abs=0.2)
    low, high, middle = numbers(drawing, "circle", "cy")
    assert low - middle == pytest.approx(middle - high, abs=0.2)
    words = [one.text for one in elements(drawing, "text")]
    assert words[:7] == ["0", "5", "10", "15", "20", "25", "30"]
    assert {"128", "256", "512", "tokens", "texts/s"} <= {*words}


def test_an_axis_of_its_own_range() -> None:
    """Axes run between round numbers, and y may begin near its lowest value."""
    points = [[Point(90.9, 1.0, 1.0, "a")], [Point(24.3, 0.998, 0.9944, "b")]]
    drawing = plot(points, "MB", "cosine", y_from=0.9944, y_to=1.0)
    words = [one.text for one in elements(drawing, "text")]
    assert words[:7] == ["0.994", "0.995", "0.996", "0.997", "0.998", "0.999", "1"]
    assert {"a", "b", "0", "100"} <= {*words}


def test_hostile_names_are_text() -> None:
    """Names with markup or control characters are shown as text."""
    for drawing in (
        bars([Bar(HOSTILE, 9, [1.0], HOSTILE)]),
        stacked([(HOSTILE, {HOSTILE: 1.0})]),
        plot([[Point(1, 1, 1, HOSTILE)]], HOSTILE, HOSTILE),
    ):
        assert elements(drawing, "text")
        assert "\u202e" not in drawing


def test_long_names_keep_both_ends() -> None:
    """Files of one model differ in the last part; the whole name is the title."""
    name = f"a-model{'x' * 90}-int8"
    drawing = bars([Bar(name, 0, [1.0], "")])
    (shown,) = [one.text or "" for one in elements(drawing, "text")]
    assert shown.startswith("a-model")
    assert shown.endswith("-int8")
    assert len(shown) == 32
    assert elements(drawing, "title")[0].text == name
