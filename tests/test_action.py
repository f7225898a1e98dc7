"""action.yml: its own scripts, run by bash as GitHub's runner runs them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from faulty.subject import SubjectFiles

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder whose name has a space, with two clients, of which ruby's fails."""
    folder = tmp_path / "a project"
    subject.write_client(folder / "clients/python", language="python")
    subject.write_client(folder / "clients/ruby", "OneFloatOff", language="ruby")
    return folder


@pytest.fixture
def runner_temp(tmp_path: Path) -> Path:
    """The runner's folder, in which the first step has put this polybake."""
    program = tmp_path / "runner/polybake/bin/polybake"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m polybake.cli.main "$@"\n')
    program.chmod(0o755)
    return tmp_path / "runner"


def run_step(
    name: str, project: Path, runner_temp: Path, path: str = "", **inputs: str
) -> tuple[int, str]:
    """The exit code of a step and what it prints; ``path`` stands before PATH."""
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in action["runs"]["steps"] if step["name"] == name]
    given = {key: one["default"] for key, one in action["inputs"].items()} | inputs
    assert given.keys() == action["inputs"].keys()
    variables = {
        variable: given[expression.removeprefix("${{ inputs.").removesuffix(" }}")]
        for variable, expression in step.get("env", {}).items()
    }
    environment = os.environ | variables | {
        "PATH": f"{path}{os.pathsep}{os.environ['PATH']}" if path else os.environ["PATH"],
        "GITHUB_ACTION_PATH": str(REPOSITORY),
        "RUNNER_TEMP": str(runner_temp),
        "GITHUB_STEP_SUMMARY": str(project / "summary.md"),
    }  # fmt: skip
    assert "${{" not in step["run"]  # the runner puts an expression's value in before bash reads it
    # Source: GitHub's "Workflow syntax", jobs.<job_id>.steps[*].shell.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_every_client_is_verified(project: Path, runner_temp: Path, subject: SubjectFiles) -> None:
    """Drift ends the step with 1, and JUnit XML is where it was asked for."""
    inputs = {"target": str(subject.model), "junit": "a report.xml"}
    code, printed = run_step("Verify", project, runner_temp, **inputs)
    assert (code, "FAIL ruby on cpu" in printed) == (1, True), printed
    assert (project / "a report.xml").is_file()


def test_the_verdicts_are_shown(project: Path, runner_temp: Path, subject: SubjectFiles) -> None:
    """Drift is an annotation and stands in the job's summary, behind what is there already.

    A run that judges nothing has no report, and does not show that of an earlier step.
    """
    summary = project / "summary.md"
    summary.write_text("of an earlier command\n")
    code, printed = run_step("Verify", project, runner_temp, target=str(subject.model))
    assert (code, "::error" in printed) == (1, True), printed
    shown = summary.read_text()
    assert shown.startswith("of an earlier command\n")
    assert "ruby" in shown.partition("\n")[2]
    assert run_step("Verify", project, runner_temp, target="no such.onnx")[0] == 2
    assert summary.read_text() == shown


def test_the_inputs_reach_verify(project: Path, runner_temp: Path, subject: SubjectFiles) -> None:
    """Lists are separated by commas, with spaces or without."""
    (project / "clients").rename(project / "my clients")
    inputs = {"target": str(subject.model), "clients": "my clients"}
    code, printed = run_step("Verify", project, runner_temp, languages="python", **inputs)
    assert (code, "ruby" in printed) == (0, False), printed
    inputs |= {"languages": "python, ruby", "devices": "cpu,cuda"}
    code, printed = run_step("Verify", project, runner_temp, **inputs)
    begun = ["python on cpu", "python on cuda", "ruby on cpu", "ruby on cuda"]
    assert [line for line in printed.splitlines() if line in begun] == begun
    code, printed = run_step("Verify", project, runner_temp, **inputs, require="perl")
    assert (code, "required 'perl' is unknown" in printed) == (2, True), printed
    code, printed = run_step("Verify", project, runner_temp, **inputs, fixture="no such")
    assert (code, "no such" in printed) == (2, True), printed


def test_no_input_is_part_of_the_script(project: Path, runner_temp: Path) -> None:
    """A branch's name, say, may come from anybody."""
    hostile = "$(touch${IFS}owned);touch owned"
    names = ["target", "clients", "languages", "devices", "require", "fixture", "junit"]
    code, printed = run_step("Verify", project, runner_temp, **dict.fromkeys(names, hostile))
    assert (code, "polybake: " in printed) == (2, True), printed
    assert not list(project.rglob("owned"))


def test_an_old_python_is_named(project: Path, tmp_path: Path) -> None:
    """The step fails with one line that GitHub shows at the top, and installs nothing."""
    old = tmp_path / "old/python3"
    old.parent.mkdir()
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.10.2 || exit 1\n')
    old.chmod(0o755)
    code, printed = run_step("Install polybake", project, tmp_path / "runner", str(old.parent))
    assert code == 3
    assert printed.startswith("::error::python3 is Python 3.10.2; expected Python 3.11 or later; ")
    assert not (tmp_path / "runner").exists()


@pytest.mark.skipif(
    importlib.util.find_spec("pre_commit") is None, reason="installs packages: nox -s exchange"
)
def test_the_whole_action(
    project: Path, tmp_path: Path, subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action installs this checkout in an environment of its own, which alone verifies."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    code, printed = run_step("Install polybake", project, tmp_path)
    assert code == 0, printed
    inputs = {"target": str(subject.model), "languages": "python"}
    code, printed = run_step("Verify", project, tmp_path, **inputs)
    assert (code, "14 of 14 stages executed" in printed) == (0, True), printed
