"""How languages write values: whatever a model says, it stays a string."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.generation import LANGUAGES
from polybake.generation.languages.csharp import msbuild_text
from polybake.generation.languages.go import go_literal, go_string
from polybake.generation.languages.java import java_string, maven_text
from polybake.generation.languages.language import bracketed
from polybake.generation.languages.node import javascript_string, json_string
from polybake.generation.languages.python import python_string
from polybake.generation.languages.ruby import ruby_string

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

GO_PROGRAM = """\
package main

import (
	"encoding/json"
	"os"
)

func main() {
	_ = json.NewEncoder(os.Stdout).Encode([]string{LITERALS})
}
"""

JAVA_PROGRAM = """\
class Literals {
  public static void main(String[] arguments) {
    var texts = java.util.List.of(LITERALS);
    System.out.println(texts.stream().map(text -> text.codePoints().boxed().toList()).toList());
  }
}
"""

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
def test_msbuild_keeps_what_is_printable(text: str) -> None:
    """MSBuild reads the element as the text without what XML forbids, and expands nothing."""
    found = ElementTree.fromstring(f"<a>{msbuild_text(text)}</a>").text or ""  # noqa: S314
    assert not re.search(r"[$@]|%(?!24|40|25)", found)
    unescaped = re.sub("%(24|40|25)", lambda code: chr(int(code[1], 16)), found)
    assert unescaped == "".join(char for char in text if char.isprintable())


@given(texts)
def test_a_raw_literal_of_go_holds_its_json(text: str) -> None:
    """No text ends the raw string, and JSON reads it back."""
    literal = go_literal({text: [text]}, 0)
    assert "`" not in literal
    assert json.loads(literal) == {text: [text]}


@given(texts)
def test_maven_keeps_what_is_printable(text: str) -> None:
    """Maven reads the element as the text without what XML forbids, and expands nothing."""
    found = ElementTree.fromstring(f"<a>{maven_text(text)}</a>").text or ""  # noqa: S314
    assert "${" not in found
    printable = "".join(char for char in text if char.isprintable())
    assert found == printable.replace("${", "$ {")


@given(texts)
def test_a_literal_is_one_line_without_inner_quotes(text: str) -> None:
    """No literal breaks its line or gives a formatter a choice of quotes."""
    for language in LANGUAGES.values():
        literal = language.string(text)
        assert literal.isprintable()
        assert literal.count('"') == 2


def read_back(encode: Callable[[str], str], command: list[str], program: str) -> None:
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


@pytest.mark.go
def test_go_reads_its_literals_back(tmp_path: Path) -> None:
    """Go evaluates every hostile literal to its text."""
    program = tmp_path / "main.go"
    code = GO_PROGRAM.replace("LITERALS", ", ".join(go_string(text) for text in HOSTILE))
    program.write_text(code, encoding="utf-8")
    read_back(go_string, ["go", "run"], str(program))


@pytest.mark.java
def test_java_reads_its_literals_back(tmp_path: Path) -> None:
    """Java evaluates every hostile literal to its text, wherever its compiler reads escapes."""
    program = tmp_path / "Literals.java"
    code = JAVA_PROGRAM.replace("LITERALS", ", ".join(map(java_string, HOSTILE)))
    program.write_text(code, encoding="utf-8")
    command = ["java", "-Dfile.encoding=UTF-8", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ["".join(map(chr, one)) for one in json.loads(done.stdout)] == HOSTILE


def test_a_list_breaks_where_it_does_not_fit() -> None:
    """A part with lines of its own breaks it, too; blanks within the brackets are for one line."""

    def written(*parts: str, width: int = 9, comma: str = "") -> str:
        def fits(line: str) -> bool:
            return len(line) <= width

        return bracketed(("{ ", " }"), parts, " ", indent="  ", fits=fits, comma=comma)

    assert written("a", "bc") == "{ a, bc }"
    assert written("a", "bcd") == "{\n   a,\n   bcd\n }"
    assert written("a", "bcd", comma=",") == "{\n   a,\n   bcd,\n }"
    assert written("[\n]") == "{\n   [\n]\n }"
