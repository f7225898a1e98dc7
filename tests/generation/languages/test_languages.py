"""A new language is a folder of templates and one entry of LANGUAGES, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from faulty.subject import CASES, TESTS, SubjectFiles
from polybake.config import load_config
from polybake.errors import CheckFailed, InputError
from polybake.generation import LANGUAGES
from polybake.generation.generate import generate
from polybake.generation.languages import Language
from polybake.generation.languages.language import Spelling, quoted
from polybake.generation.names import names_for
from polybake.verification.verify import verify

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
    (one.folder / "harness.py").write_text("mine")
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
