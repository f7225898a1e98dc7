"""The judge: clients that are ready, missing, unprepared, foreign."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from faulty.subject import CASES, TESTS, SubjectFiles
from polybake.errors import InputError
from polybake.verification.harness.harness_file import foreign_client
from polybake.verification.judge import Progress, judge
from polybake.verification.report import Report
from polybake.verification.verdict import CASE_STAGES, MANY_STAGES, Status

STAGES = len(CASES) * len(CASE_STAGES) + len(MANY_STAGES)


def statuses(report: Report, language: str = "tiny") -> set[Status]:
    """Every status that a language has."""
    return {verdict.status for verdict in report.verdicts if verdict.language == language}


def python(script: str) -> tuple[str, ...]:
    """A command that runs a line of Python."""
    return (sys.executable, "-S", "-c", script)


def test_clients_and_devices_are_all_judged(subject: SubjectFiles) -> None:
    """Each client goes through each case on each device; one that fails spoils no other."""
    clients = [subject.client(), subject.client("OneFloatOff", language="other")]
    told: list[Progress] = []
    report = judge(
        subject.model, clients, subject.fixture, devices=["cpu", "cuda"], progress=told.append
    )
    assert report.executed == 2 * 2 * STAGES
    assert statuses(report) == {Status.PASS}
    assert Status.FAIL in statuses(report, "other")
    assert tuple(one.verdict for one in told if one.verdict) == report.verdicts
    begun = [(one.language, one.device, one.done) for one in told if one.verdict is None]
    stages = STAGES + 2
    assert begun == [
        ("tiny", "cpu", 0),
        ("tiny", "cuda", stages),
        ("other", "cpu", 2 * stages),
        ("other", "cuda", 3 * stages),
    ]
    assert (told[-1].done, told[-1].total) == (4 * stages, 4 * stages)
    assert [(run.language, run.device) for run in report.runs] == [
        ("tiny", "cpu"),
        ("tiny", "cuda"),
        ("other", "cpu"),
        ("other", "cuda"),
    ]
    assert report.runs[0].versions is not None
    assert report.runs[0].versions.runtime_version == "4.5.6"


def test_difference_between_languages_is_reported(subject: SubjectFiles) -> None:
    """Two clients are compared with each other, beyond what the golden vectors say."""
    clients = [subject.client(), subject.client("OneFloatOff", language="other")]
    report = judge(subject.model, clients, subject.fixture)
    (between,) = report.language_differences
    assert between.languages == ("other", "tiny")
    assert between.difference == pytest.approx(2e-5, rel=1e-2)
    largest = max(verdict.difference or 0.0 for verdict in report.verdicts)
    assert between.difference == largest


def test_missing_program_is_a_visible_skip(subject: SubjectFiles) -> None:
    """A client whose toolchain is not there is skipped in every stage; the others decide."""
    clients = [subject.client(), subject.client(language="other", requires=("no-such-program",))]
    report = judge(subject.model, clients, subject.fixture)
    assert statuses(report, "other") == {Status.MISSING_TOOLCHAIN}
    assert len([v for v in report.verdicts if v.language == "other"]) == STAGES + 1
    assert report.executed == STAGES
    assert report.exit_code() == 0


def test_missing_program_of_a_required_language_ends_with_3(subject: SubjectFiles) -> None:
    """A skip ends with exit code 3 if the language was required."""
    clients = [subject.client(), subject.client(language="other", requires=("no-such-program",))]
    report = judge(subject.model, clients, subject.fixture, required=["other"])
    assert report.exit_code() == 3
    assert "no-such-program" in report.missing[0]


def test_nothing_executed_is_a_failure(subject: SubjectFiles) -> None:
    """When every toolchain is missing, nothing was shown: exit code 1."""
    client = subject.client(requires=("no-such-program",))
    report = judge(subject.model, [client], subject.fixture)
    assert report.failures == report.notes == ()
    assert report.exit_code() == 1
    assert judge(subject.model, [], subject.fixture).exit_code() == 1


def test_a_stage_that_all_skip_is_named(subject: SubjectFiles) -> None:
    """Exit code 0 does not hide it; a stage that a single client does is not named."""
    texts_only = subject.client("OnlyTexts")
    report = judge(subject.model, [texts_only], subject.fixture)
    assert report.notes == ("verified of no client, since all skipped it: embed_ids",)
    assert report.exit_code() == 0
    clients = [texts_only, subject.client(language="other")]
    assert judge(subject.model, clients, subject.fixture).notes == ()


def test_missing_device_of_a_required_device_ends_with_3(subject: SubjectFiles) -> None:
    """A device that no client has is a skip, and exit code 3 when it was required."""
    clients = [subject.client(), subject.client("NoDevice", language="other")]
    devices = ["cuda"]
    report = judge(subject.model, clients, subject.fixture, devices=devices)
    assert statuses(report, "other") == {Status.MISSING_DEVICE}
    assert report.exit_code() == 0
    report = judge(subject.model, clients, subject.fixture, devices=devices, required=["cuda"])
    assert report.exit_code() == 3


def test_device_error_on_the_cpu_is_an_error(subject: SubjectFiles) -> None:
    """The CPU is always there: a client that says otherwise fails."""
    report = judge(subject.model, [subject.client("NoDevice")], subject.fixture)
    assert statuses(report) == {Status.ERROR}


def test_unprepared_client_is_a_missing_toolchain(subject: SubjectFiles) -> None:
    """A client that has something to prepare and ends at once is told to be prepared."""
    client = subject.client("CrashesAlways", prepare=(("make", "it so"), ("sh", "x")))
    report = judge(subject.model, [client], subject.fixture)
    assert statuses(report) == {Status.MISSING_TOOLCHAIN}
    message = report.verdicts[0].message
    assert "polybake verify --prepare" in message
    assert "make 'it so' && sh x" in message
    assert "cannot load the runtime" in message


def test_prepared_client_that_ends_at_once_is_a_crash(subject: SubjectFiles) -> None:
    """A prepared client that ends at once has no excuse."""
    client = subject.client("CrashesAlways", prepare=(python("pass"),))
    report = judge(subject.model, [client], subject.fixture, prepare=True)
    assert statuses(report) == {Status.CRASH}


def test_prepare_runs_only_when_asked(subject: SubjectFiles, tmp_path: Path) -> None:
    """The prepare commands run with prepare, and never without."""
    mark = tmp_path / "mark"
    client = subject.client(prepare=(python(f"open({str(mark)!r}, 'w')"),))
    assert judge(subject.model, [client], subject.fixture).exit_code() == 0
    assert not mark.exists()
    assert judge(subject.model, [client], subject.fixture, prepare=True).exit_code() == 0
    assert mark.exists()


def test_failed_prepare_is_an_error(subject: SubjectFiles) -> None:
    """A client that cannot be prepared fails, and shows why."""
    client = subject.client(prepare=(python("raise SystemExit('no gem')"),))
    report = judge(subject.model, [client], subject.fixture, prepare=True)
    assert statuses(report) == {Status.ERROR}
    assert "no gem" in report.verdicts[0].message


def foreign(subject: SubjectFiles, language: str, monkeypatch: pytest.MonkeyPatch):
    """A client given as a command."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    words = (sys.executable, "-m", "faulty", str(subject.answers), "none", language)
    return foreign_client(shlex.join(words))


def test_foreign_client_goes_by_its_answer(
    subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client given as a command is named by the language that it reports."""
    clients = [subject.client(), foreign(subject, "perl", monkeypatch)]
    report = judge(subject.model, clients, subject.fixture, devices=["cpu", "cuda"])
    assert statuses(report, "perl") == {Status.PASS}
    assert report.executed == 4 * STAGES


@pytest.mark.parametrize("name", ["tiny", "ruby", "cuda"])
def test_foreign_client_may_not_take_a_name(
    subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A foreign client may pass for no other, for no generated language, and for no device."""
    clients = [subject.client(), foreign(subject, name, monkeypatch)]
    report = judge(subject.model, clients, subject.fixture, required=[name])
    assert statuses(report, "tiny") == {Status.PASS}
    assert report.exit_code() == 1
    assert f"reports language {name}, which is not its own" in report.failures[0].message


@pytest.mark.parametrize("name", ["Go", "go lang", "go\u200b", ""])
def test_foreign_client_has_a_plain_name(
    subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A name against the rules of harness.json is an error, so that no two names look alike."""
    report = judge(subject.model, [foreign(subject, name, monkeypatch)], subject.fixture)
    assert "answer to start: client.language: " in report.failures[0].message


def test_fixture_of_another_file_is_noted(subject: SubjectFiles) -> None:
    """A fixture made for another fingerprint still decides, with a note."""
    fixture = subject.fixture.model_copy(update={"fingerprint": "0" * 64})
    report = judge(subject.model, [subject.client()], fixture)
    assert report.notes == ("the fixture was made for another file; its vectors decide",)
    assert report.exit_code() == 0


def test_two_clients_of_a_language_are_refused(subject: SubjectFiles) -> None:
    """Verdicts carry the language's name, so no two clients may share it."""
    with pytest.raises(InputError, match="of language tiny too"):
        judge(subject.model, [subject.client(), subject.client()], subject.fixture)


def test_no_model_file_is_an_error(subject: SubjectFiles, tmp_path: Path) -> None:
    """A file that is not a model is refused before any client starts."""
    with pytest.raises(InputError, match="cannot be read"):
        judge(tmp_path / "none.onnx", [subject.client()], subject.fixture)


def test_heavy_packages_are_not_imported() -> None:
    """The judge runs where neither onnx, onnxruntime nor tokenizers is installed."""
    import subprocess

    script = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(('onnx', 'onnxruntime', 'onnxscript', 'tokenizers'))\n"
        "from polybake.verification.reporting import report_table, report_json, report_junit\n"
        "from polybake.verification import verify\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
