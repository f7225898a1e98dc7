"""Tables and pages: figures in proportion, and no name that is markup or steers a terminal."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from polybake.study.bench.bench_report import report
from polybake.study.bench.chart import Bar, Point, bars, plot, stacked
from polybake.study.bench.figures import Figures
from polybake.study.bench.table import cells, file_cells, print_figures
from support.clients.hostile import HOSTILE
from support.samples.sample_figures import sample_figures, without_profile


def printed(figures: Figures, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_figures(figures, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_row_for_each_figure() -> None:
    """The tables show speed, latency, files, batches and parts."""
    figures = sample_figures()
    many, single = figures.workloads
    assert cells(many.rows[0]) == ("exact", "1", "333", "11,333", "1.00 x", "67%")
    assert cells(many.rows[1])[-1] == "unknown"  # of a single round
    assert cells(single.rows[0])[2:5] == ("2.50 ms", "3.70 ms", "3.97 ms")
    assert file_cells(figures.models[1])[1:4] == ("int8", "24.3", "0.99800")
    text = printed(figures)
    assert text.count("where the time goes") == 2
    page = report(figures)
    assert page.count("<svg") == page.count("</svg>") == 6
    assert "333 texts/s  (1.00 x)" in page


def test_a_client_that_failed_says_why() -> None:
    """Its row has no figure, and one line has the reason."""
    figures = sample_figures(message="row 3 \x1b[2J")
    assert '<p class="fail">FAIL exact in node: fail: row 3' in report(figures)
    text = printed(figures)
    assert "FAIL exact in node: fail: row 3 \\x1b[2J" in text
    assert "\x1b" not in text


def test_names_of_any_length_stay_inside() -> None:
    """Long names are folded, and no name steers the terminal."""
    text = printed(sample_figures(first="x" * 200, second=HOSTILE))
    assert max(map(len, text.splitlines()[:20])) <= 80
    assert text.count("x") >= 200
    assert "\u202e" not in text


def test_a_gpu_has_no_profile() -> None:
    """Where the time goes is left out; all else is there."""
    figures = without_profile(sample_figures())
    assert "where the time goes" not in printed(figures)
    assert "Where the time goes" not in report(figures)


def test_asks_for_no_other_file() -> None:
    """There is no script, link, image or import."""
    page = report(sample_figures()).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"<script|<link|<img|<iframe|src=|href=|url\(|@import|https?:", page)


def test_hostile_names_are_text_of_a_page() -> None:
    """A file's name makes no element."""
    tags = re.compile(r"<(\w+)")
    plain = {*tags.findall(report(sample_figures()))}
    for name in (HOSTILE, "</td><script>alert(1)</script><b>"):
        page = report(sample_figures(name, f"{name}2", message=name))
        assert {*tags.findall(page)} == plain
        assert "\u202e" not in page


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


def test_hostile_names_are_text_of_a_chart() -> None:
    for drawing in (
        bars([Bar(HOSTILE, 9, [1.0], HOSTILE)]),
        stacked([(HOSTILE, {HOSTILE: 1.0})]),
        plot([[Point(1, 1, 1, HOSTILE)]], HOSTILE, HOSTILE),
    ):
        assert elements(drawing, "text")
        assert "\u202e" not in drawing
