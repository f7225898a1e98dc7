"""pytest polybake.toml: verdicts as tests, in a pytest of its own as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from faulty.subject import CASES, SubjectFiles
from polybake.verification.testing import plugin
from polybake.verification.verdict import CASE_STAGES
from support.processes.inner_pytest import inner_pytest

pytestmark = pytest.mark.slow

#: The tests of a client: each stage of each case, two of many texts, self_check and stop.
TESTS = len(CASES) * len(CASE_STAGES) + 5

#: The failures of the wrong client: two stages of each case, and both of many texts.
FAILED = 2 * len(CASES) + 2

#: Writes a line whenever the harness starts.
COUNTED = """
import runpy, sys
open("starts", "a").write("once\\n")
sys.argv[0] = "faulty"
runpy.run_module("faulty", run_name="__main__")
"""
PREPARE = [[sys.executable, "-c", "open('prepared', 'a').write('once')"]]


@pytest.fixture
def project(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder whose polybake.toml names two clients, of which ruby's fails."""
    for language, fault in (("python", "none"), ("ruby", "OneFloatOff")):
        client = subject.client(fault, language=language)
        counted = [sys.executable, "-c", COUNTED, *client.run[3:]]
        subject.write_client(tmp_path / language, fault, language=language)
        change(tmp_path / language, run=counted, prepare=PREPARE)
    write_config(tmp_path, subject)
    return tmp_path


def write_config(project: Path, subject: SubjectFiles, verify: str = "") -> None:
    (project / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        '[clients.python]\noutput = "python"\n[clients.ruby]\noutput = "ruby"\n'
        f"[verify]\n{verify}\n"
    )


def change(folder: Path, **fields: object) -> None:
    """Change fields of a client's harness.json."""
    harness = json.loads((folder / "harness.json").read_text())
    (folder / "harness.json").write_text(json.dumps(harness | fields))


def test_each_verdict_is_a_test(project: Path) -> None:
    """A failure repeats only the judge's words, JUnit has each difference, and all share a run."""
    code, printed = inner_pytest(project, "polybake.toml", "--junitxml", "tests.xml")
    assert code == 1
    assert f"collected {2 * TESTS + 1} items" in printed
    assert f"{FAILED} failed, {2 * TESTS + 1 - FAILED} passed" in printed
    assert "FAILED polybake.toml::ruby-cpu::two.embed_ids - " in printed
    assert "ruby-cpu two.embed_ids ___" in printed
    assert "\nfail: row 1, element 7: difference 2e-05 exceeds 1e-05\n" in printed
    assert "judged.py" not in printed
    tests = ET.parse(project / "tests.xml").iter("testcase")  # noqa: S314 - made here
    found = {(test.get("classname"), test.get("name")): test for test in tests}
    (number,) = found["polybake.toml.ruby-cpu", "two.embed"].iter("property")
    assert number.get("name") == "difference"
    assert float(number.get("value", "")) == pytest.approx(2e-5, rel=0.01)
    assert (project / "ruby/starts").read_text() == "once\n"
    assert not (project / "python/prepared").exists()


def test_only_what_is_chosen_is_started_and_prepared(project: Path) -> None:
    """A single test chosen by name starts only its own client; --polybake-prepare prepares it."""
    chosen = "polybake.toml::python-cpu::one.embed"
    code, printed = inner_pytest(project, chosen, "--polybake-prepare")
    assert (code, "1 passed" in printed) == (0, True), printed
    assert (project / "python/prepared").read_text() == "once"
    assert not (project / "ruby/starts").exists()
    assert not (project / "ruby/prepared").exists()


def test_what_is_missing_is_skipped_and_where_required_fails(
    project: Path, subject: SubjectFiles
) -> None:
    """A missing toolchain is a visible skip, and a failure where its language is required."""
    change(project / "ruby", requires=["no-such"])
    code, printed = inner_pytest(project, "polybake.toml")
    assert code == 0
    assert f"{TESTS + 1} passed, {TESTS} skipped" in printed
    assert "missing-toolchain: " in printed
    write_config(project, subject, 'require = ["ruby"]')
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, "1 failed" in printed) == (1, True)
    assert "ruby is required, but ruby on cpu is missing-toolchain" in printed


def test_nothing_executed_is_a_failure(project: Path) -> None:
    """Skips alone would be a green run that has shown nothing."""
    change(project / "ruby", requires=["no-such"])
    change(project / "python", requires=["no-such"])
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, "no client ran a single case" in printed) == (1, True)


def test_a_wrong_setting_is_one_line(project: Path, subject: SubjectFiles) -> None:
    """One line with the remedy is shown before any client starts."""
    write_config(project, subject, 'require = ["rubby"]')
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, "Traceback" in printed) == (2, False), printed
    assert "required 'rubby' is unknown; choose among: python, " in printed


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A folder with a test, and a polybake.toml that is wrong and says so when it is read."""
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    (tmp_path / "polybake.toml").write_text("wrong = 1\n")
    return tmp_path


def test_pytest_finds_the_plugin(repository: Path) -> None:
    """An installed polybake has the entry point by which pytest finds it."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"]["pytest11"].items()
    assert EntryPoint(name, value, "pytest11").load() is plugin


def test_a_polybake_toml_that_nobody_named_is_left_alone(other: Path) -> None:
    """A run of other tests never starts clients."""
    code, printed = inner_pytest(other, ".")
    assert (code, "1 passed" in printed) == (0, True), printed


def test_testpaths_name_it_for_every_run(other: Path) -> None:
    """The setting testpaths of pytest may name polybake.toml."""
    (other / "pytest.ini").write_text("[pytest]\ntestpaths = test_one.py polybake.toml\n")
    code, printed = inner_pytest(other)
    assert (code, "wrong: unknown key" in printed) == (2, True), printed


def test_other_files_that_are_named_are_not_taken(other: Path) -> None:
    """Settings of another tool are left alone."""
    (other / "pyproject.toml").write_text("[project]\n")
    code, printed = inner_pytest(other, "pyproject.toml")
    assert (code, "polybake" in printed.partition("collected")[2]) == (4, False), printed


def test_several_processes_do_not_prepare_one_client(other: Path) -> None:
    """pytest-xdist would spread a file's tests over processes unless it is told not to."""
    code, printed = inner_pytest(other, "test_one.py", "-n", "1", plugin.PREPARE)
    assert (code, "with --dist load: expected --dist loadfile" in printed) == (4, True), printed
    safe = [plugin.PREPARE, "--dist", "loadfile"]
    assert inner_pytest(other, "test_one.py", "-n", "1", *safe)[0] == 0


def test_the_plugin_alone_imports_nothing_large() -> None:
    """Every run of pytest loads the plugin where polybake is installed."""
    code = (
        "import sys, polybake.verification.testing.plugin\n"
        "print(*(name for name in ('numpy', 'pydantic', 'typer', 'rich') if name in sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
