"""polybake verify: its output and files, and what polybake.toml decides."""

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


def test_what_polybake_toml_requires_may_not_be_missing(project: Path) -> None:
    """A language that is not there is red, but not where --language leaves it out."""
    settings = project / "polybake.toml"
    settings.write_text(settings.read_text() + '[verify]\nrequire = ["python", "node"]\n')
    printed = run("verify", cwd=project).stdout
    assert printed.splitlines()[-1].startswith("MISSING node is required, but no client ran it")
    done = run("verify", "--language", "python", cwd=project)
    assert (done.returncode, "MISSING" in done.stdout) == (0, False)


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
    files = {"--junit": "a.xml", "--html": "a.html", "--markdown": "a.md"}
    words = [word for pair in files.items() for word in pair]
    done = run("verify", "--json", "--github", *words, cwd=project)
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_code"] == 1
    assert [one["language"] for one in report["runs"]] == ["python", "ruby"]
    assert {line[:8] for line in done.stderr.splitlines()} == {"::error "}
    assert (project / "a.xml").read_bytes().startswith(b"<?xml")
    assert "1 of 2 clients fail" in (project / "a.html").read_text()
    assert "1 of 2 clients fail" in (project / "a.md").read_text()


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
