"""polybake verify and matrix: their output and files, and what polybake.toml decides."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from faulty.subject import SubjectFiles
from support.processes.commandline import polybake, run

pytestmark = pytest.mark.slow


@pytest.fixture
def project(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder with two clients, of which ruby's fails, where polybake.toml says."""
    subject.write_client(tmp_path / "here", language="python")
    subject.write_client(tmp_path / "there", "OneFloatOff", language="ruby")
    (tmp_path / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        '[clients.python]\noutput = "here"\n[clients.ruby]\noutput = "there"\n'
        '[[verify.matrix]]\nlanguage = "python"\n'
    )
    return tmp_path


def test_polybake_toml_says_where_clients_are(project: Path) -> None:
    """Each client is looked for at its own output; a failure is told at once, and ends with 1."""
    done = run("verify", cwd=project)
    assert done.returncode == 1
    assert "FAIL ruby on cpu, case one, stage embed and " in done.stdout
    told = ["python on cpu", "ruby on cpu", "ruby on cpu one embed: fail"]
    assert done.stderr.splitlines()[:3] == told
    printed = polybake("verify", "--language", "python", cwd=project)
    assert "14 of 14 stages executed" in printed


def test_failures_that_say_the_same_are_told_once(project: Path, subject: SubjectFiles) -> None:
    """A client that never starts is told once, not for every case."""
    subject.write_client(project / "down", "CrashesAlways", language="ruby")
    settings = project / "polybake.toml"
    settings.write_text(settings.read_text().replace('"there"', '"down"'))
    done = run("verify", "--language", "ruby", cwd=project)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["ruby on cpu", "ruby on cpu one tokenize: crash"]


def test_a_service_whose_vectors_differ_is_diagnosed_next(subject: SubjectFiles) -> None:
    """The command is told, and only where there are other vectors to explain."""
    pytest.importorskip("uvicorn", reason="the server's packages are missing: polybake[serve]")
    from faulty.web import Web, web

    model = shlex.quote(str(subject.model))
    diagnose = f"note: why they differ: polybake diagnose {model} --harness http://127"
    for fault, told in (("unnormalised", True), ("garbage", False)):
        with web(Web(subject.fixture, fault)) as url:
            printed = run("verify", str(subject.model), "--harness", f"{url}/embed").stdout
        assert (diagnose in printed) == told


def test_every_report_is_written(project: Path) -> None:
    """Reports go to files, JSON alone to standard output, and annotations to standard error."""
    files = {"--junit": "a.xml", "--html": "a.html", "--markdown": "a.md", "--record": "trend.json"}
    words = [word for pair in files.items() for word in pair]
    done = run("verify", "--json", "--github", *words, cwd=project)
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_code"] == 1
    assert [one["language"] for one in report["runs"]] == ["python", "ruby"]
    assert {line[:8] for line in done.stderr.splitlines()} == {"::error "}
    assert (project / "a.xml").read_bytes().startswith(b"<?xml")
    assert "1 of 2 clients fail" in (project / "a.html").read_text()
    assert "1 of 2 clients fail" in (project / "a.md").read_text()
    trends = json.loads((project / "trend.json").read_text())["trends"]
    assert {trend["language"] for trend in trends} == {"python"}
    (project / "before.json").write_text(done.stdout)
    compared = ("--language", "python", "--baseline", "before.json", "--record", "trend.json")
    assert "changed: ruby on cpu: was not run" in polybake("verify", *compared, cwd=project)
    assert json.loads((project / "trend.json").read_text())["trends"] == trends


def test_a_terminal_shows_how_far_it_is(project: Path) -> None:
    """Progress goes to standard error, so that programs can read standard output."""
    pty = pytest.importorskip("pty", reason="this system has no terminals that a program holds")
    shown, terminal = pty.openpty()
    command = [sys.executable, "-m", "polybake.cli.main", "verify", "--json"]
    process = subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=terminal)
    os.close(terminal)
    text = b""
    while chunk := _read(shown):
        text += chunk
    printed, _ = process.communicate()
    assert json.loads(printed)["exit_code"] == process.returncode == 1
    assert b"python on cpu" in text
    assert b"ruby on cpu" in text


def _read(terminal: int) -> bytes:
    """What a terminal shows, until nobody writes to it: Linux says so by an error."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_a_matrix_is_printed_and_written(project: Path) -> None:
    """Environments lie beside the file, whatever folder one stands in."""
    other = project / "elsewhere"
    other.mkdir()
    printed = polybake("matrix", "../polybake.toml", "--markdown", "matrix.md", cwd=other)
    assert "1 of 1 cells passed" in printed
    assert "| PASS 0.0e+00 |" in (other / "matrix.md").read_text()
    assert [path.name for path in (project / "build" / "matrix").iterdir()] == ["python-cpu"]
    assert not (other / "build").exists()


def test_a_matrix_as_json_stands_alone(project: Path, subject: SubjectFiles) -> None:
    """Each --model is a column; a language that is required and missing ends with 3."""
    options = ["--json", "--model", subject.model, "--model", subject.model, "--folder", "there"]
    done = run("matrix", *options, "--require", "go", cwd=project)
    assert (done.returncode, done.stderr) == (3, "")
    found = json.loads(done.stdout)
    assert len(found["rows"][0]["cells"]) == 2
    assert found["missing"][0].startswith("go is required")
    assert (project / "there" / "python-cpu").is_dir()
    assert not (project / "build").exists()


def test_a_file_without_a_matrix_says_what_to_add(project: Path) -> None:
    """An empty matrix runs nothing and must not pass."""
    text = (project / "polybake.toml").read_text()
    (project / "polybake.toml").write_text(text.partition("[[verify.matrix]]")[0])
    printed = polybake("matrix", cwd=project, code=2)
    assert "polybake.toml: has no [[verify.matrix]]; add one, see docs/matrix.md" in printed
