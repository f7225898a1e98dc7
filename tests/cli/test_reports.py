"""The files that polybake verify reads and writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from faulty.subject import SubjectFiles
from support.processes.commandline import polybake, run

pytestmark = pytest.mark.slow

WRITTEN = ["verify.xml", "verify.html", "verify.md", "trend.json"]


@pytest.fixture
def folder(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder with two clients, of which ruby's fails."""
    subject.write_client(tmp_path / "clients/python", language="python")
    subject.write_client(tmp_path / "clients/ruby", "OneFloatOff", language="ruby")
    return tmp_path


def test_every_report_is_written(subject: SubjectFiles, folder: Path) -> None:
    """Reports go to files, JSON alone to standard output, and annotations to standard error."""
    options = ("--junit", "--html", "--markdown", "--record")
    files = [word for pair in zip(options, WRITTEN, strict=True) for word in pair]
    done = run("verify", subject.model, "--json", "--github", *files, cwd=folder)
    assert done.returncode == 1
    assert json.loads(done.stdout)["exit_code"] == 1
    assert {line[:8] for line in done.stderr.splitlines()} == {"::error "}
    assert "1 of 2 clients fail" in (folder / "verify.html").read_text()
    assert "1 of 2 clients fail" in (folder / "verify.md").read_text()
    trends = json.loads((folder / "trend.json").read_text())["trends"]
    assert {trend["language"] for trend in trends} == {"python"}
    (folder / "before.json").write_text(done.stdout)
    compared = ("--language", "python", "--baseline", "before.json", "--record", "trend.json")
    printed = polybake("verify", subject.model, *compared, cwd=folder)
    assert "changed: ruby on cpu: was not run" in printed
    assert json.loads((folder / "trend.json").read_text())["trends"] == trends


@pytest.mark.parametrize("option", ["--baseline", "--record"])
def test_a_wrong_file_costs_no_run(subject: SubjectFiles, folder: Path, option: str) -> None:
    """A wrong file is refused before any client starts, and stays as it is."""
    (folder / "wrong.json").write_text("{")
    printed = polybake("verify", subject.model, option, "wrong.json", cwd=folder, code=2)
    assert printed.startswith("polybake: wrong.json: is no ")
    assert (folder / "wrong.json").read_text() == "{"


def test_no_report_takes_the_place_of_another_file(subject: SubjectFiles, folder: Path) -> None:
    """A report never overwrites the model or another report."""
    model = subject.model.read_bytes()
    printed = polybake("verify", subject.model, "--html", subject.model, cwd=folder, code=2)
    assert "is the file of the model; choose another" in printed
    assert subject.model.read_bytes() == model
    same = ("--html", "one.html", "--markdown", "./one.html")
    printed = polybake("verify", subject.model, *same, cwd=folder, code=2)
    assert "--markdown one.html: is the file of --html" in printed
    assert not (folder / "one.html").exists()
