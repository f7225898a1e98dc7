"""What pages are made of: text fit for them, and templates."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateNotFound, UndefinedError

from polybake.base.files.printable import code_span, printable
from polybake.base.files.templates import template_environment, templates_folder
from polybake.generation.languages import LANGUAGES


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
