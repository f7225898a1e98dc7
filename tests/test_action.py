"""action.yml: its own scripts, run by bash as GitHub's runner runs them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from faulty.subject import SubjectFiles
from models.folders.tiny_folders import write_bert
from support.processes.commandline import polybake
from support.servers.served import served

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).resolve().parents[1]

SETTINGS = """
[model]
name = "tiny"
source = "bert"
output = "build/tiny.onnx"
[clients.python]
[store]
url = "{store}"
[[steps]]
step = "pool"
mode = "mean"
"""


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
    programs = tmp_path / "runner/polybake/bin"
    write_program(programs / "polybake", f'exec "{sys.executable}" -m polybake.cli.main "$@"')
    write_program(programs / "python", f'exec "{sys.executable}" "$@"')
    return tmp_path / "runner"


def write_program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run_step(
    name: str, project: Path, runner_temp: Path, path: str | Path = "", **inputs: str
) -> tuple[int, str]:
    """The exit code of a step of a pull request and what it prints; ``path`` is before PATH."""
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
        "GITHUB_REPOSITORY": "somebody/shop",
        "GITHUB_REF": "refs/pull/7/merge",
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


@pytest.mark.weekly
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


@pytest.mark.parametrize("name", ["Pull", "Check", "Verify", "Diff"])
def test_no_input_is_part_of_the_script(name: str, project: Path, runner_temp: Path) -> None:
    """A branch's name, say, may come from anybody."""
    hostile = "$(touch${IFS}owned);touch owned"
    action = yaml.safe_load((REPOSITORY / "action.yml").read_text(encoding="utf-8"))
    inputs = dict.fromkeys(action["inputs"], hostile) | {"pull": "true"}
    if name == "Check":
        inputs["target"] += ".toml"
    code, printed = run_step(name, project, runner_temp, **inputs)
    assert code == (128 if name == "Diff" else 2), printed
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


def test_what_is_installed(project: Path, tmp_path: Path) -> None:
    """The packages of a bake, and those of a store, come only where a step needs them."""
    installs = 'mkdir -p "$3/bin"; cp "$(dirname "$0")/print" "$3/bin/python"'
    write_program(tmp_path / "bin/python3", f'if [ "$2" = venv ]; then {installs}; fi')
    write_program(tmp_path / "bin/print", 'echo "$@"')

    def installed(**inputs: str) -> str:
        given = ("Install polybake", project, tmp_path / "runner", tmp_path / "bin")
        code, printed = run_step(*given, **inputs)
        assert code == 0, printed
        return printed.strip().removeprefix(f"-m pip install --quiet {REPOSITORY}")

    assert installed(target="build/minilm.onnx") == ""
    assert installed(check="none") == ""
    assert installed() == "[bake,cpu]"
    assert installed(target="build/minilm.onnx", pull="true") == "[store]"
    assert installed(check="none", diff="main") == "[bake,cpu,store]"
    code, printed = run_step("Install polybake", project, tmp_path / "runner", check="all")
    assert (code, printed) == (
        2,
        "::error::check is 'all'; expected complete, present or none\n",
    )


def git(folder: Path, *arguments: str) -> None:
    person = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose model was built and pushed to a store, and its origin with main."""
    pytest.importorskip("fsspec", reason='pip install ".[store]"')
    folder = tmp_path_factory.mktemp("built") / "shop"
    write_bert(folder / "bert")
    (folder / "polybake.toml").write_text(SETTINGS.format(store=folder.parent / "store"))
    polybake("build", cwd=folder)
    polybake("push", cwd=folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=all")
    git(folder.parent, "clone", "--quiet", "--bare", str(folder), "origin")
    git(folder, "remote", "add", "origin", str(folder.parent / "origin"))
    return folder


@pytest.fixture
def checkout(pushed: Path, tmp_path: Path) -> Path:
    """A plain checkout, which has no model file."""
    git(tmp_path, "clone", "--quiet", str(pushed.parent / "origin"), "a checkout")
    return tmp_path / "a checkout"


def test_a_plain_checkout_is_checked(checkout: Path, runner_temp: Path) -> None:
    """With pull all is compared; without it, what is missing is a failure, unless told."""
    code, printed = run_step("Check", checkout, runner_temp)
    assert (code, "::warning title=polybake check::not looked at: " in printed) == (1, True)
    assert run_step("Check", checkout, runner_temp, check="present")[0] == 0
    assert run_step("Check", checkout, runner_temp, check="none") == (0, "")
    assert run_step("Pull", checkout, runner_temp) == (0, "")
    code, printed = run_step("Pull", checkout, runner_temp, pull="true")
    assert (code, "pulled: " in printed) == (0, True), printed
    code, printed = run_step("Check", checkout, runner_temp)
    assert (code, "::" in printed) == (0, False), printed


def test_a_changed_input_is_shown(checkout: Path, runner_temp: Path) -> None:
    """It is an annotation, and stands in the job's summary."""
    (checkout / "bert/config.json").open("a").write(" ")
    code, printed = run_step("Check", checkout, runner_temp, check="present")
    told = f"{checkout / 'bert/config.json'}: changed since the build; polybake build"
    told = told.removeprefix(f"{checkout}/")
    assert code == 1
    assert f"::error title=polybake check::{told}" in printed.splitlines()
    assert f"    CHANGED: {told}" in (checkout / "summary.md").read_text().splitlines()


@pytest.mark.weekly
def test_a_service_is_judged(checkout: Path, pushed: Path, runner_temp: Path) -> None:
    """By its address, and beside the clients where there are any."""
    inputs = {"target": str(pushed / "build/tiny.onnx")}
    shutil.rmtree(checkout / "clients")
    with served(pushed / "build/tiny.onnx") as service:
        inputs["harness"] = f"{service.url}/embed"
        code, printed = run_step("Verify", checkout, runner_temp, **inputs)
    assert (code, f"{service.url}/embed on cpu" in printed) == (0, True), printed


@pytest.mark.weekly
def test_the_model_is_compared_with_that_of_main(
    checkout: Path, pushed: Path, runner_temp: Path, tmp_path: Path
) -> None:
    """The answer stands in the summary and in one comment, whatever it is: it fails no job."""
    calls, one = tmp_path / "calls", tmp_path / "comment"
    write_program(
        tmp_path / "bin/gh",
        f'echo "$@" >> "{calls}"\n'
        f'case "$*" in *--paginate*) cat "{one}" 2> /dev/null || true;;\n'
        f'*POST*) echo 5 > "{one}";; esac',
    )
    inputs = {"diff": "main", "token": "t"}
    shutil.copytree(pushed / "build", checkout / "build")
    assert run_step("Diff", checkout, runner_temp) == (0, "")
    code, printed = run_step("Diff", checkout, runner_temp, **inputs)
    assert (code, "is the one of the branch 'main'" in printed) == (0, True), printed
    assert not calls.exists()
    config = checkout / "polybake.toml"
    config.write_text(config.read_text().replace('"mean"', '"cls"'))
    polybake("build", cwd=checkout)
    for _ in range(2):
        code, printed = run_step("Diff", checkout, runner_temp, tmp_path / "bin", **inputs)
        assert code == 0, printed
    summary = (checkout / "summary.md").read_text()
    assert summary.count("### polybake: the model beside that of main\n\nRe-index: yes") == 2
    asked, posted, _, changed = calls.read_text().splitlines()
    assert "repos/somebody/shop/issues/7/comments" in asked
    assert "--method POST repos/somebody/shop/issues/7/comments" in posted
    assert "--method PATCH repos/somebody/shop/issues/comments/5" in changed


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
