"""What pages are made of: text fit for them, pictures, and templates."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateNotFound, UndefinedError

from polybake.base.files.printable import code_span, printable
from polybake.base.files.svg import Paint
from polybake.base.files.templates import template_environment, templates_folder
from polybake.generation.languages import LANGUAGES

PAINT = Paint("drawing", {"bar": ("#3b82f6", "none", "#60a5fa", "none")})


@given(st.text(st.characters(exclude_categories=[])))
def test_result_is_legal_xml_and_steers_no_terminal(text: str) -> None:
    """Any text, lone surrogates too, survives XML and keeps no control character."""
    shown = printable(text)
    assert shown.isprintable()
    element = ET.Element("a", message=shown)
    assert ET.fromstring(ET.tostring(element)).get("message") == shown  # noqa: S314 - made here


def test_escapes_are_readable() -> None:
    """Printable text is left as it is; a code span has more backticks than its text in a row."""
    assert printable("a\n\x1b[31mé\ud800") == "a\\n\\x1b[31mé\\ud800"
    assert code_span("plain @name") == "`plain @name`"
    assert code_span("a ``b` \n") == "``` a ``b` \\n ```"


def test_a_picture_is_whole_markup() -> None:
    """Colours of light ground are attributes, those of dark a style for this picture alone."""
    assert PAINT["bar"] == 'class="bar" fill="#3b82f6" stroke="none"'
    bar = PAINT.shape("rect", "bar", "1 < 2", x=1.25, stroke_width=3, rx="2%")
    root = ET.fromstring(PAINT.picture(30, 20.4, [bar], "a & b"))  # noqa: S314
    assert (root.get("class"), root.get("viewBox")) == ("drawing", "0 0 30 20")
    title, style, ground, drawn = root
    assert (title.text, ground.get("class")) == ("a & b", "ground")
    assert "(prefers-color-scheme: dark)" in (style.text or "")
    assert ".drawing .bar { fill: #60a5fa; stroke: none }" in (style.text or "")
    assert {"x": "1.2", "stroke-width": "3.0", "rx": "2%"}.items() <= drawn.attrib.items()
    assert drawn[0].text == "1 < 2"


@pytest.mark.parametrize("text", ["a < b & c", '</text><script x="1">', "new\nline \x00 \u202e"])
def test_text_is_no_markup(text: str) -> None:
    """Any text is one element without children."""
    element = ET.fromstring(PAINT.text(1.25, 2, text, 'font-size="18"', paint="quiet"))  # noqa: S314
    assert (element.tag, list(element)) == ("text", [])
    assert {"class": "quiet", "x": "1.2", "y": "2.0", "font-size": "18"}.items() <= (
        element.attrib.items()
    )


def test_templates_are_shipped() -> None:
    """The package has the templates of every language, the card, the report and Triton."""
    assert {*LANGUAGES, "card", "report", "triton"} <= {
        one.name for one in templates_folder().iterdir()
    }


def test_a_users_template_comes_first(tmp_path: Path) -> None:
    """A user's template wins over the shipped one; files outside of both folders are not read."""
    for name in ("own", "shipped"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "both.txt").write_text(name)
    (tmp_path / "shipped" / "one.txt").write_text("one\n")
    (tmp_path / "outside.txt").write_text("")
    environment = template_environment([tmp_path / "own", tmp_path / "shipped"])
    assert environment.get_template("both.txt").render() == "own"
    assert environment.get_template("one.txt").render() == "one\n"
    with pytest.raises(TemplateNotFound):
        environment.get_template("../outside.txt")


def test_what_a_template_writes(tmp_path: Path) -> None:
    """Statements leave no trace, HTML is escaped where asked for, misspelt variables are faults."""
    (tmp_path / "t").write_text(
        "{% for one in ones %}\n  {% if one %}\n{{ one }}\n  {% endif %}\n{% endfor %}\n"
    )
    written = template_environment(tmp_path).get_template("t").render(ones=["a", "", "<b>"])
    assert written == "a\n<b>\n"
    page = template_environment(tmp_path, autoescape=True, finalize=str.upper)
    assert page.get_template("t").render(ones=["<b>"]) == "&lt;B&gt;\n"
    (tmp_path / "t").write_text("{{ missing }}")
    with pytest.raises(UndefinedError, match="missing"):
        template_environment(tmp_path).get_template("t").render()
