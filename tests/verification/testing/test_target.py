"""pytest polybake.toml: verdicts as tests, in a pytest of its own as users run it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from faulty.subject import CASES, SubjectFiles
from polybake.verification.verdict import CASE_STAGES
from support.processes.inner_pytest import inner_pytest

pytestmark = pytest.mark.slow

#: The tests of a client: each stage of each case, two of many texts, self_check and stop.
TESTS = len(CASES) * len(CASE_STAGES) + 4

#: The failures of the wrong client: two stages of each case, and both of many texts.
FAILED = 2 * len(CASES) + 2


@pytest.fixture
def project(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder whose polybake.toml names two clients, of which ruby's fails."""
    subject.write_client(tmp_path / "python", language="python")
    subject.write_client(tmp_path / "ruby", "OneFloatOff", language="ruby")
    write_config(tmp_path, subject)
    return tmp_path


def write_config(project: Path, subject: SubjectFiles, verify: str = "") -> None:
    (project / "polybake.toml").write_text(
        f'[model]\nname = "tiny-model"\nsource = "none"\noutput = "{subject.model}"\n'
        '[clients.python]\noutput = "python"\n[clients.ruby]\noutput = "ruby"\n'
        f"[verify]\n{verify}\n"
    )


def without_toolchain(folder: Path) -> None:
    """Let a client need a program that is nowhere."""
    harness = json.loads((folder / "harness.json").read_text())
    (folder / "harness.json").write_text(json.dumps({**harness, "requires": ["no-such"]}))


def count_starts(folder: Path) -> None:
    """Let a client write a line to its file ``starts`` whenever its harness starts."""
    harness = json.loads((folder / "harness.json").read_text())
    counted = ["sh", "-c", 'echo once >> starts; exec "$@"', "sh", *harness["run"]]
    (folder / "harness.json").write_text(json.dumps({**harness, "run": counted}))


def test_each_verdict_is_a_test(project: Path) -> None:
    """A failure repeats only the judge's words, and JUnit has each difference."""
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


def test_a_client_that_is_not_chosen_is_not_started(project: Path) -> None:
    """A single test chosen by name starts only its own client."""
    count_starts(project / "ruby")
    code, printed = inner_pytest(project, "polybake.toml::python-cpu::one.embed")
    assert (code, "1 passed" in printed) == (0, True)
    assert not (project / "ruby/starts").exists()


def test_a_client_is_started_once_for_all_its_tests(project: Path) -> None:
    """All tests of a client share one report."""
    count_starts(project / "ruby")
    code, printed = inner_pytest(project, "polybake.toml", "-k", "ruby-cpu or complete")
    assert (code, f"{TESTS + 1 - FAILED} passed" in printed) == (1, True), printed
    assert (project / "ruby/starts").read_text() == "once\n"


def test_what_is_missing_is_skipped_and_where_required_fails(
    project: Path, subject: SubjectFiles
) -> None:
    """A missing toolchain is a visible skip, and a failure where its language is required."""
    without_toolchain(project / "ruby")
    code, printed = inner_pytest(project, "polybake.toml")
    assert code == 0
    assert f"{TESTS + 1} passed, {TESTS} skipped" in printed
    assert "missing-toolchain: " in printed
    message = "ruby is required, but ruby on cpu is missing-toolchain"
    assert message in inner_pytest(project, "polybake.toml", POLYBAKE_REQUIRE="ruby")[1]
    write_config(project, subject, 'require = ["ruby"]')
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, "1 failed" in printed, message in printed) == (1, True, True)


def test_nothing_executed_is_a_failure(project: Path) -> None:
    """Skips alone would be a green run that has shown nothing."""
    without_toolchain(project / "ruby")
    without_toolchain(project / "python")
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, "no client ran a single case" in printed) == (1, True)


@pytest.mark.parametrize("option", [[], ["--polybake-prepare"]])
def test_packages_are_installed_only_when_asked(project: Path, option: list[str]) -> None:
    """--polybake-prepare runs the client's prepare commands, once, in its folder."""
    harness = json.loads((project / "python/harness.json").read_text())
    prepare = [["sh", "-c", "echo once >> prepared"]]
    (project / "python/harness.json").write_text(json.dumps({**harness, "prepare": prepare}))
    inner_pytest(project, "polybake.toml", "-k", "python-cpu", *option)
    prepared = project / "python/prepared"
    assert (prepared.read_text() if prepared.exists() else "") == ("once\n" if option else "")


@pytest.mark.parametrize(
    ("verify", "remedy"),
    [
        ('require = ["rubby"]', "required 'rubby' is unknown; choose among: python, "),
        ("devises = []", "unknown key; choose one of: devices, harnesses, require"),
    ],
)
def test_a_wrong_setting_is_one_line(
    project: Path, subject: SubjectFiles, verify: str, remedy: str
) -> None:
    """One line with the remedy is shown before any client starts."""
    write_config(project, subject, verify)
    code, printed = inner_pytest(project, "polybake.toml")
    assert (code, remedy in printed, "Traceback" in printed) == (2, True, False), printed
