"""Text from outside made fit for a terminal, for XML and for Markdown."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from polybake.base.files.printable import code_span, printable


@given(st.text(st.characters(exclude_categories=[])))
def test_result_is_legal_xml_and_steers_no_terminal(text: str) -> None:
    """Any text, lone surrogates too, survives XML and keeps no control character."""
    shown = printable(text)
    assert shown.isprintable()
    element = ET.Element("a", message=shown)
    assert ET.fromstring(ET.tostring(element)).get("message") == shown  # noqa: S314 - made here


def test_escapes_are_readable() -> None:
    """Escapes can be recognised, and printable text is left as it is."""
    assert printable("a\n\x1b[31mé\ud800") == "a\\n\\x1b[31mé\\ud800"


def test_no_backticks_end_a_code_span() -> None:
    """A code span is fenced by more backticks than its text has in a row."""
    assert code_span("plain @name") == "`plain @name`"
    assert code_span("a ``b` \n") == "``` a ``b` \\n ```"
