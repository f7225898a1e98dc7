"""The drawing: well-formed, self-contained, readable on light and dark ground."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from polybake.study.inspect.boxes import Box, Picture
from polybake.study.inspect.svg import svg
from support.clients.hostile import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"

PICTURE = Picture(
    boxes=(
        Box("input", "input_ids", "int64"),
        Box("input", "attention_mask", "int64"),
        Box("encoder", "encoder.layer", "35 operators: Add × 10, MatMul × 8 + 7 more", times=6),
        Box("step", "pool", "mode=mean"),
        Box("output", "sentence_embedding", "float32"),
    ),
    arrows=((0, 2), (1, 2), (2, 3), (1, 3), (3, 4)),
    shapes=("batch × sequence", "batch × sequence", "batch × sequence × 384", "batch × 384", ""),
)


def texts(drawing: str) -> list[str]:
    return [one.text or "" for one in ET.fromstring(drawing).iter(f"{SVG}text")]  # noqa: S314


def test_shows_every_word() -> None:
    """Names, details, shapes and how often a layer occurs are in the drawing."""
    shown = texts(svg(PICTURE, "minilm", "opset 18"))
    assert shown[:2] == ["minilm", "opset 18"]
    assert {"input_ids", "encoder.layer × 6", "mode=mean", "batch × 384", "float32"} <= {*shown}
    assert shown.count("batch × sequence") == 2


def test_draws_every_arrow() -> None:
    """Each arrow is one path that ends in a head."""
    paths = ET.fromstring(svg(PICTURE, "m", "")).findall(f".//{SVG}path[@class='arrow']")  # noqa: S314
    assert ["marker-end" in path.attrib for path in paths] == [True] * len(PICTURE.arrows)


def test_all_is_inside() -> None:
    """No box and no path leaves the drawing, and a wide text makes a wide box."""
    root = ET.fromstring(svg(PICTURE, "m", "a line"))  # noqa: S314
    width, height = (float(root.attrib[key]) for key in ("width", "height"))
    group = root.find(f"{SVG}g")
    assert group is not None
    left, top = map(float, re.findall(r"[\d.]+", group.attrib["transform"]))
    boxes = group.findall(f".//{SVG}rect")
    assert len(boxes) == len(PICTURE.boxes) + 2  # one stands for several, and has two behind it
    for box in boxes:
        x, y, wide, high = (float(box.attrib[key]) for key in ("x", "y", "width", "height"))
        assert 0 < left + x < left + x + wide < width
        assert 0 < top + y < top + y + high < height
    assert max(float(box.attrib["width"]) for box in boxes) > 280


def test_converters_that_know_no_css_see_colours() -> None:
    """Every shape and text has a colour attribute for light ground, without CSS variables."""
    drawing = svg(PICTURE, "minilm", "opset 18")
    assert "var(" not in drawing
    shapes = [one for one in ET.fromstring(drawing).iter() if "class" in one.attrib][1:]  # noqa: S314
    tags = {one.tag.removeprefix(SVG) for one in shapes}
    assert tags == {"rect", "text", "path"}
    for one in shapes:
        assert {one.attrib["fill"], one.attrib["stroke"]} != {"none"}
        assert re.fullmatch(r"none|#[0-9a-f]{6}", one.attrib["fill"])
    (step,) = [one for one in shapes if one.attrib["class"] == "step"]
    assert (step.attrib["fill"], step.attrib["stroke"]) == ("#fef3c7", "#b45309")


def test_asks_for_nothing_and_follows_the_ground() -> None:
    """There is no link to any other file, and colours for a dark ground."""
    drawing = svg(PICTURE, "m", "")
    assert re.findall(r"https?://[^\"]+", drawing) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|<image|href|@import|url\((?!#polybake-head\))", drawing)
    assert "prefers-color-scheme: dark" in drawing


@pytest.mark.parametrize("name", [HOSTILE, "</text><script>alert(1)</script>", "\0\x1b[0m\ufffe"])
def test_hostile_names_are_text(name: str) -> None:
    """The drawing is valid XML and holds no element from a name, whatever the name."""
    boxes = (Box("input", name, name), Box("step", name, name, times=3))
    drawing = svg(Picture(boxes, ((0, 1),), (name, "")), name, name)
    tags = {element.tag.removeprefix(SVG) for element in ET.fromstring(drawing).iter()}  # noqa: S314
    assert tags == {"svg", "title", "style", "defs", "marker", "path", "rect", "g", "text"}
    assert any(name[:8].encode("unicode_escape").decode()[:2] in text for text in texts(drawing))


def test_long_names_are_cut() -> None:
    """A title longer than a line ends in dots, and is whole where one points at the box."""
    name = "encoder." * 40
    drawing = svg(Picture((Box("step", name, ""),), (), ("",)), "m", "")
    assert max(map(len, texts(drawing))) < 50
    assert f"<title>{name}" in drawing
