"""verify as a function: which clients, cases and devices it takes."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from faulty.subject import CASES, TESTS, SubjectFiles
from polybake.base.modelfile.fixture_folder import write_fixture
from polybake.errors import InputError
from polybake.verification.report import Report
from polybake.verification.verdict import CASE_STAGES, MANY_STAGES
from polybake.verification.verify import verify

pytestmark = pytest.mark.slow

STAGES = len(CASES) * len(CASE_STAGES) + len(MANY_STAGES)


@pytest.fixture
def clients(subject: SubjectFiles, tmp_path: Path) -> Path:
    """A folder with three clients, of which one fails."""
    subject.write_client(tmp_path / "clients/a", language="a")
    subject.write_client(tmp_path / "clients/b", "OneFloatOff", language="b")
    subject.write_client(tmp_path / "clients/c", language="c")
    return tmp_path / "clients"


def ran(report: Report) -> list[tuple[str, str]]:
    """The languages and devices that ran, in order."""
    return [(run.language, run.device) for run in report.runs]


def test_clients_is_the_folder_without_a_name(
    subject: SubjectFiles, clients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder ``clients`` is the default, unless only foreign harnesses are given."""
    monkeypatch.chdir(clients.parent)
    report = verify(str(subject.model))
    assert ran(report) == [("a", "cpu"), ("b", "cpu"), ("c", "cpu")]
    assert {verdict.language for verdict in report.failures} == {"b"}
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    command = shlex.join([sys.executable, "-m", "faulty", str(subject.answers), "none", "perl"])
    assert ran(verify(subject.model, harnesses=[command])) == [("perl", "cpu")]
    report = verify(subject.model, languages=["a"], harnesses=[command])
    assert ran(report) == [("a", "cpu"), ("perl", "cpu")]


def test_a_language_asked_for_may_not_be_skipped(subject: SubjectFiles, clients: Path) -> None:
    """Only that language is verified, and a device that it cannot use is missing."""
    report = verify(subject.model, clients, languages=["c"], devices=["cuda", "cpu", "cuda"])
    assert ran(report) == [("c", "cpu"), ("c", "cuda")]
    assert (report.executed, report.exit_code()) == (2 * STAGES, 0)
    harness = (clients / "c/harness.json").read_text()
    (clients / "c/harness.json").write_text(harness.replace("{", '{"requires": ["no-such"], ', 1))
    assert verify(subject.model, clients, languages=["c"]).exit_code() == 3


def test_single_folders_are_taken(subject: SubjectFiles, clients: Path, tmp_path: Path) -> None:
    """Folders of clients need no common one, and a fixture takes the place of the file's."""
    cases = subject.fixture.cases[:1]
    write_fixture(subject.fixture.model_copy(update={"cases": cases}), tmp_path / "golden")
    folders = [clients / "c", clients / "a"]
    report = verify(subject.model, folders, fixture=tmp_path / "golden", require=["ruby"])
    assert ran(report) == [("c", "cpu"), ("a", "cpu")]
    assert report.missing[0].startswith("ruby is required, but no client ran it")
    assert (report.cases, report.executed) == (1, 2 * (len(CASE_STAGES) + len(MANY_STAGES)))


def test_a_client_that_hangs_is_ended_in_time(subject: SubjectFiles, tmp_path: Path) -> None:
    """The time for an answer is the caller's."""
    folder = subject.write_client(tmp_path / "a", "NeverAnswers")
    report = verify(subject.model, folder, timeout=1)
    assert all(verdict.message.endswith("no answer in 1 s") for verdict in report.failures)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"languages": ["go"]}, "language 'go': there is no client of it; choose among: a, b, c"),
        ({"devices": ["gpu"]}, "device 'gpu': choose among: cpu, cuda"),
        ({"require": ["rubby"]}, "required 'rubby' is unknown"),
        ({"timeout": 0}, "timeout 0: expected seconds above 0"),
    ],
)
def test_a_wrong_argument_is_named(
    subject: SubjectFiles, clients: Path, arguments: dict, says: str
) -> None:
    """The value and the choices are named, and no client is started."""
    with pytest.raises(InputError, match=says):
        verify(subject.model, clients, **arguments)
