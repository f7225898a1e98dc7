"""The picture of a comparison."""

from __future__ import annotations

from array import array
from pathlib import Path
from xml.etree import ElementTree

import pytest

from polybake.errors import InputError
from polybake.study.diff.neighbours import Neighbours
from polybake.study.diff.parts import compare_parts
from polybake.study.diff.picture import check_picture, write_picture
from polybake.study.diff.seen import Seen
from polybake.study.diff.verdict import DiffVerdict
from polybake.verification.verdict import Stage

SVG = "{http://www.w3.org/2000/svg}"
YES = DiffVerdict("Re-index", "yes", "Old <vectors>.")


def drawn(
    path: Path, model: Path, stages: list[Seen], neighbours: Neighbours | None
) -> ElementTree.Element:
    write_picture(path, compare_parts(model, model), stages, neighbours, YES)
    return ElementTree.parse(path).getroot()  # noqa: S314 - of our own making


def bars(root: ElementTree.Element) -> dict[str, float]:
    """The place where each bar begins, by what it counts."""
    found = [one for one in root.iter(f"{SVG}rect") if one.get("class") == "bar"]
    return {one.findtext(f"{SVG}title", ""): float(one.attrib["x"]) for one in found}


def test_every_text_is_in_a_bar(every_feed: Path, tmp_path: Path) -> None:
    """Equal texts are at the left end, opposite ones at the right, with the limit between."""
    distances = array("d", [0.0, -1e-16, 2e-4, 2e-4, 2e-4, 2.0])
    seen = Seen(Stage.EMBED, texts=6, differing=4, distances=distances)
    neighbours = Neighbours(9, 0.9, 0.9, 0.9, 0.9, (0.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3))
    root = drawn(tmp_path / "a.svg", every_feed, [seen, seen, seen], neighbours)
    found = bars(root)
    assert sorted(found) == ["1 texts", "2 texts", "3 texts", "4 texts"]
    (limit,) = (float(one.attrib["x1"]) for one in root.iter(f"{SVG}line"))
    assert found["2 texts"] < limit < found["3 texts"]
    written = "".join(root.itertext())
    assert "Re-index: yes" in written
    assert "limit 1e-06" in written


def test_what_is_not_there_is_said(every_feed: Path, tmp_path: Path) -> None:
    """A picture without comparable vectors, or without searched texts, says so."""
    root = drawn(tmp_path / "a.svg", every_feed, [Seen(Stage.TOKENIZE)], None)
    written = "".join(root.itertext())
    assert "none can be compared" in written
    assert "no texts were searched" in written


def test_it_asks_for_nothing_and_knows_dark_ground(every_feed: Path, tmp_path: Path) -> None:
    """The picture is one file, and its texts are escaped."""
    drawn(tmp_path / "a.svg", every_feed, [], None)
    written = (tmp_path / "a.svg").read_text()
    assert "prefers-color-scheme: dark" in written
    assert written.count("http") == 1  # the namespace
    assert "Old &lt;vectors&gt;." in written


def test_another_kind_of_file_is_refused() -> None:
    """A wrong suffix is refused before anything runs."""
    check_picture(None)
    check_picture(Path("a.SVG"))
    with pytest.raises(InputError, match=r"a\.png: a picture is an \.svg file"):
        check_picture(Path("a.png"))
