"""Literals: whatever a model says, it stays a string."""

from __future__ import annotations

import ast
import json
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.generation.literals import (
    Encoder,
    csharp_string,
    javascript_string,
    json_string,
    python_string,
    ruby_string,
    xml_text,
)

HOSTILE = [
    '\' " \\ \r \n \u2028 \u2029 \0 */ """ #{1} #$x #@x ${1} {{ 1 }} {% x %} ` ]]> ../ <!-- \x7f',
    "\u202e\u2066 bidi \ufeff\u200b",
    "emoji \U0001f469\u200d\U0001f4bb and \U000e0041 tags",
    "\\u0041 \\x41 %s {0}",
    "",
]

NODE_PROGRAM = (
    "console.log(JSON.stringify([{}]).replace(/[^ -~]/g, "
    r"c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')))"
)

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(texts)
def test_python(text: str) -> None:
    """Python evaluates the literal to the text."""
    assert ast.literal_eval(python_string(text)) == text


@given(texts)
def test_toml(text: str) -> None:
    """A Python literal is a TOML string, too."""
    assert tomllib.loads(f"x = {python_string(text)}")["x"] == text


@given(texts)
def test_json(text: str) -> None:
    """JSON reads the literal back."""
    assert json.loads(json_string(text)) == text


@given(texts)
def test_xml_keeps_what_is_printable(text: str) -> None:
    """The element's text is the text without what XML forbids."""
    found = ElementTree.fromstring(f"<a>{xml_text(text)}</a>").text or ""  # noqa: S314
    assert found == "".join(char for char in text if char.isprintable())


@given(texts)
def test_a_literal_is_one_line_without_inner_quotes(text: str) -> None:
    """No literal breaks its line or gives a formatter a choice of quotes."""
    for encode in (python_string, javascript_string, ruby_string, csharp_string):
        literal = encode(text)
        assert literal.isprintable()
        assert literal.count('"') == 2


def read_back(encode: Encoder, command: list[str], program: str) -> None:
    """Have the language evaluate every hostile literal, and compare."""
    code = program.replace("{}", ", ".join(encode(text) for text in HOSTILE))
    done = subprocess.run([*command, code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == HOSTILE


@pytest.mark.node
def test_node_reads_its_literals_back() -> None:
    """Node evaluates every hostile literal to its text."""
    read_back(javascript_string, ["node", "-e"], NODE_PROGRAM)


@pytest.mark.ruby
def test_ruby_reads_its_literals_back() -> None:
    """Ruby evaluates every hostile literal to its text."""
    program = "puts JSON.generate([{}], ascii_only: true)"
    read_back(ruby_string, ["ruby", "-rjson", "-e"], program)
