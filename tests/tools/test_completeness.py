"""The proof from a JUnit report that nothing was skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from completeness import check_complete, main
from faulty.subject import CASES, SubjectFiles
from polybake.errors import CheckFailed
from polybake.verification.judge import judge
from polybake.verification.reporting.report_junit import report_junit


@pytest.fixture
def junit(subject: SubjectFiles, tmp_path: Path):
    """A function that verifies clients with the faults given and writes the JUnit report."""

    def write(**faults: str) -> Path:
        clients = [subject.client(fault, language=name) for name, fault in faults.items()]
        path = tmp_path / "verify.xml"
        path.write_bytes(report_junit(judge(subject.model, clients, subject.fixture)))
        return path

    return write


def test_complete_report_passes(junit) -> None:
    """Languages x devices x stages x cases are counted, and those of many texts."""
    path = junit(a="none", b="none")
    assert check_complete(path, ["a", "b"], ["cpu"], len(CASES)) == 2 * 1 * (3 * 4 + 2)


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ({"a": "none"}, "b on cpu, stage tokenize: 0 cases passed, expected 4"),
        ({"a": "none", "b": "SkipsEmbedIds"}, "b on cpu, stage embed_ids: 0 cases passed"),
        ({"a": "CrashesOnCase", "b": "none"}, "a on cpu, stage tokenize: 3 cases passed"),
        ({"a": "HasNoStream", "b": "none"}, "a on cpu, stage stream: 0 cases passed, expected 1"),
        ({"a": "Killed", "b": "none"}, "a on cpu, stage embed: 3 cases passed"),
    ],
)
def test_gap_is_named(junit, faults: dict[str, str], says: str) -> None:
    """A missing language, a skipped stage and a lost case fail the check."""
    with pytest.raises(CheckFailed, match=says):
        check_complete(junit(**faults), ["a", "b"], ["cpu"], len(CASES))


def test_a_client_without_a_stream_is_named(junit) -> None:
    """Its other stages are counted, and those of the others whole."""
    path = junit(a="HasNoStream", b="none")
    assert check_complete(path, ["a", "b"], ["cpu"], len(CASES), ["a"]) == 2 * (3 * 4 + 2) - 1


def test_repeated_test_case_fails(junit) -> None:
    """A test case that occurs twice cannot stand in for another."""
    path = junit(a="none")
    path.write_text(path.read_text().replace('name="two.embed"', 'name="one.embed"'))
    with pytest.raises(CheckFailed, match="occurs twice"):
        check_complete(path, ["a"], ["cpu"], len(CASES))


def test_command_line(junit, capsys: pytest.CaptureFixture[str]) -> None:
    """The module prints the count, or the gap with exit code 1."""
    path = str(junit(a="none"))
    assert main([path, "--languages", "a", "--cases", "4"]) == 0
    assert capsys.readouterr().out == "14 stages executed and passed\n"
    assert main([path, "--languages", "a,b", "--cases", "4"]) == 1
    assert "b on cpu" in capsys.readouterr().err
