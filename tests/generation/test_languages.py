"""Languages: whatever a model says stays a string, and a new one is templates and one entry."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faulty.subject import CASES, TESTS, SubjectFiles
from polybake.config import load_config
from polybake.errors import CheckFailed, InputError
from polybake.generation import LANGUAGES
from polybake.generation.generate import generate
from polybake.generation.languages import Language
from polybake.generation.languages.csharp import msbuild_text
from polybake.generation.languages.go import go_literal, go_string
from polybake.generation.languages.java import maven_text
from polybake.generation.languages.language import Spelling, bracketed, quoted
from polybake.generation.languages.node import json_string
from polybake.generation.languages.python import python_string
from polybake.generation.names import names_for
from polybake.verification.verify import verify

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
def test_go(text: str) -> None:
    """Text stays a string: as the name of a prompt, as a label, and in a list of records."""
    written = go_string(text)
    assert go_literal({text: text}, 0) == f"{{{written}: {written}}}"
    assert go_literal([text], 0) in (f"{{{written}}}", f"{{\n\t{written},\n}}")
    record = {"pieces": [{"id": None, "type_id": 1}], "labels": [text], "room": 1}
    labels = go_literal([text], 1)
    pieces = "Pieces: []piece{{ID: -1, TypeID: 1}},"
    if "\n" in labels:
        lines = f"\t{pieces}\n\tLabels: []string{labels},\n\tRoom: 1,\n"
    else:
        lines = f"\t{pieces}\n\tLabels: []string{labels},\n\tRoom:   1,\n"
    assert go_literal(record, 0) == f"{{\n{lines}}}"


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


TOY = Language(
    name="toy",
    string=lambda text: quoted(text, wide="\\U{:08x}"),
    project_string=repr,
    literal=lambda value, _levels: repr(value),
    null="None",
    elements={"float32": "number"},
    package=Spelling(str, "[a-z-]+"),
    module=Spelling(str.upper, "[A-Z-]+"),
    reserved=frozenset({"chest"}),
    project_files=frozenset({"__module__.project"}),
)

TEMPLATES = {
    "harness.json": '{"language": "toy", "run": ["{python}", "harness.py"]}\n',
    "harness.py.jinja": """\
import json, os
from faulty.reference import Reference

answers = json.load(open(os.environ["ANSWERS"]))
assert answers["name"] == {{ name }}
Reference(answers, "toy").serve()
""",
    "__module__.project.jinja": "{{ package }} {{ version }} {{ description }}\n",
}


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy language, known, and its templates."""
    monkeypatch.setitem(LANGUAGES, "toy", TOY)
    (tmp_path / "templates/toy").mkdir(parents=True)
    for name, text in TEMPLATES.items():
        (tmp_path / "templates/toy" / name).write_text(text)
    return tmp_path / "templates"


def test_a_new_language_is_generated_checked_and_verified(
    templates: Path, subject: SubjectFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client is written where it is named, found fresh or stale, and judged in every case."""
    assert "toy" not in generate(subject.model, tmp_path / "default")
    clients = tmp_path / "clients"
    (one,) = generate(subject.model, clients, languages=["toy"], templates=templates).values()
    assert (one.folder / "TINY-MODEL.project").read_text().startswith("tiny-model 0.1.0 'Client ")
    (one.folder / "TINY-MODEL.project").write_text("mine")
    generate(subject.model, clients, languages=["toy"], templates=templates, check=True)
    monkeypatch.setenv("ANSWERS", str(subject.answers))
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    report = verify(subject.model, clients, languages=["toy"])
    # Of each case three stages, then many texts as a list and as a stream.
    assert (report.executed, report.exit_code()) == (3 * len(CASES) + 2, 0)
    (templates / "toy/harness.py.jinja").write_text("another")
    with pytest.raises(CheckFailed, match=r"toy/harness\.py; run: polybake generate"):
        generate(subject.model, clients, templates=templates, check=True)


@pytest.mark.usefixtures("templates")
def test_a_new_language_is_known_wherever_languages_are_named(
    subject: SubjectFiles, tmp_path: Path
) -> None:
    """In polybake.toml, by --require, and by what no model may be called."""
    (tmp_path / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        '[clients.toy]\noutput = "toy"\n'
    )
    assert list(load_config(tmp_path / "polybake.toml").clients) == ["toy"]
    report = verify(subject.model, subject.write_client(tmp_path / "a"), require=["toy"])
    assert report.missing[0].startswith("toy is required, but no client ran it")
    with pytest.raises(InputError, match="'chest' would shadow"):
        names_for("python", "chest")


@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_are_those_of_the_harness(
    language: str, subject: SubjectFiles, tmp_path: Path
) -> None:
    """``init`` asks the same of a machine as ``verify`` does."""
    generate(subject.model, tmp_path, languages=[language])
    harness = json.loads((tmp_path / language / "harness.json").read_text(encoding="utf-8"))
    assert {*harness["requires"]} - {"{python}"} == {*LANGUAGES[language].programs}
