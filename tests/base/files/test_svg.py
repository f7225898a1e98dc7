"""What pictures share: colours for two grounds, and text that stays text."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from polybake.base.files.svg import Paint

PAINT = Paint("drawing", {"bar": ("#3b82f6", "none", "#60a5fa", "none")})


def test_colours_of_light_ground_are_attributes() -> None:
    """A converter that knows no CSS paints, too."""
    assert PAINT["bar"] == 'class="bar" fill="#3b82f6" stroke="none"'
    with pytest.raises(KeyError):
        PAINT["beam"]


def test_colours_of_dark_ground_are_for_this_picture_alone() -> None:
    """Several pictures may stand in one page."""
    style = ET.fromstring(PAINT.style).text or ""  # noqa: S314
    assert "(prefers-color-scheme: dark)" in style
    assert ".drawing .bar { fill: #60a5fa; stroke: none }" in style
    assert style.count(".drawing .") == style.count("fill:") == 4


def test_a_picture_stands_on_its_ground() -> None:
    """Numbers have one decimal, names of attributes a hyphen, and what is told is text."""
    bar = PAINT.shape("rect", "bar", "1 < 2", x=1.25, stroke_width=3, rx="2%")
    root = ET.fromstring(PAINT.picture(30, 20.4, [bar], "a & b"))  # noqa: S314
    assert (root.get("class"), root.get("viewBox")) == ("drawing", "0 0 30 20")
    title, _, ground, drawn = root
    assert (title.text, ground.get("class")) == ("a & b", "ground")
    assert {"x": "1.2", "stroke-width": "3.0", "rx": "2%"}.items() <= drawn.attrib.items()
    assert drawn[0].text == "1 < 2"
    style, *_ = ET.fromstring(PAINT.picture(1, 1, []))  # noqa: S314
    assert style.tag.endswith("style")


@pytest.mark.parametrize("text", ["a < b & c", '</text><script x="1">', "new\nline \x00 \u202e"])
def test_text_is_no_markup(text: str) -> None:
    """Any text is one element without children."""
    element = ET.fromstring(PAINT.text(1.25, 2, text, 'font-size="18"', paint="quiet"))  # noqa: S314
    assert (element.tag, list(element)) == ("text", [])
    assert {"class": "quiet", "x": "1.2", "y": "2.0", "font-size": "18"}.items() <= (
        element.attrib.items()
    )
