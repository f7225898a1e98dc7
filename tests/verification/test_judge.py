"""The judge: clients that are ready, missing, unprepared, foreign."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faulty.subject import CASES, TESTS, SubjectFiles
from polybake.errors import InputError
from polybake.verification.harness.harness_file import foreign_client
from polybake.verification.judge import Progress, judge
from polybake.verification.report import Report
from polybake.verification.verdict import CASE_STAGES, MANY_STAGES, Stage, Status

STAGES = len(CASES) * len(CASE_STAGES) + len(MANY_STAGES)


def statuses(report: Report, language: str = "tiny") -> set[Status]:
    """Every status that a language has."""
    return {verdict.status for verdict in report.verdicts if verdict.language == language}


def python(script: str) -> tuple[str, ...]:
    """A command that runs a line of Python."""
    return (sys.executable, "-S", "-c", script)


UNPREPARED = "cannot load the runtime; .* polybake verify --prepare, or in .*: make 'it so' && sh x"


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
    runs = [("tiny", "cpu"), ("tiny", "cuda"), ("other", "cpu"), ("other", "cuda")]
    assert [(run.language, run.device) for run in report.runs] == runs
    begun = [(one.language, one.device, one.done) for one in told if one.verdict is None]
    assert begun == [(*run, number * (STAGES + 3)) for number, run in enumerate(runs)]
    assert told[-1].done == told[-1].total == 4 * (STAGES + 3)
    assert report.runs[0].versions is not None
    assert report.runs[0].versions.runtime_version == "4.5.6"
    between, _ = report.language_differences
    assert (between.languages, between.device) == (("other", "tiny"), "cpu")
    assert between.difference == pytest.approx(2e-5, rel=1e-2)


NOWHERE = {"requires": ("no-such-program",)}


@pytest.mark.parametrize(
    ("fault", "fields", "device", "required", "status", "code"),
    [
        ("none", NOWHERE, "cpu", "", Status.MISSING_TOOLCHAIN, 0),
        ("none", NOWHERE, "cpu", "other", Status.MISSING_TOOLCHAIN, 3),
        ("NoDevice", {}, "cuda", "", Status.MISSING_DEVICE, 0),
        ("NoDevice", {}, "cuda", "cuda", Status.MISSING_DEVICE, 3),
        ("NoDevice", {}, "cpu", "", Status.ERROR, 1),  # which is always there
    ],
)
def test_what_is_missing_is_a_visible_skip(
    subject: SubjectFiles,
    fault: str,
    fields: dict[str, Any],
    device: str,
    required: str,
    status: Status,
    code: int,
) -> None:
    """A client without toolchain or device is skipped in every stage, unless it is required."""
    clients = [subject.client(), subject.client(fault, language="other", **fields)]
    report = judge(
        subject.model,
        clients,
        subject.fixture,
        devices=[device],
        required=[*filter(None, [required])],
    )
    assert statuses(report, "other") == {status}
    assert len([v for v in report.verdicts if v.language == "other"]) == STAGES + 2
    assert report.executed == STAGES
    assert report.exit_code() == code
    assert bool(report.missing) == (code == 3)


def test_a_part_that_a_client_does_not_have_is_no_stage(subject: SubjectFiles) -> None:
    """A client without streams passes whole, and nothing is said of streams."""
    report = judge(subject.model, [subject.client("HasNoStream")], subject.fixture)
    assert Stage.STREAM not in {one.stage for one in report.verdicts}
    assert report.executed == report.asked == STAGES - 1
    assert report.notes == ()
    client = subject.client("HasNoStream", language="ruby")
    assert judge(subject.model, [client], subject.fixture, required=["ruby"]).exit_code() == 0


def test_what_no_program_could_run_is_told_at_the_end(subject: SubjectFiles) -> None:
    """A language without its toolchain is named, unless it is required, which fails."""
    clients = [subject.client("HasNoStream"), subject.client(language="other", **NOWHERE)]
    (note,) = judge(subject.model, clients, subject.fixture).notes
    assert note.startswith("NOT VERIFIED: other, since what they need is not on this machine")
    report = judge(subject.model, clients, subject.fixture, required=["other"])
    assert (report.notes, report.exit_code()) == ((), 3)
    assert judge(subject.model, [clients[1]], subject.fixture).notes != ()


def test_a_client_that_does_not_start_has_its_own_remedy(subject: SubjectFiles) -> None:
    """A required client of another contract is there, and its error says what to do."""
    client = subject.client("WrongFingerprint", language="ruby")
    report = judge(subject.model, [client], subject.fixture, required=["ruby"])
    assert (report.missing, report.exit_code()) == ((), 1)


def test_nothing_executed_is_a_failure(subject: SubjectFiles) -> None:
    """When every toolchain is missing, nothing was shown: exit code 1."""
    report = judge(subject.model, [subject.client(**NOWHERE)], subject.fixture)
    assert report.failures == ()
    assert report.exit_code() == 1
    assert judge(subject.model, [], subject.fixture).exit_code() == 1


def test_a_stage_that_all_skip_is_named(subject: SubjectFiles) -> None:
    """Exit code 0 does not hide it; a stage that a single client does is not named."""
    texts_only = subject.client("OnlyTexts")
    report = judge(subject.model, [texts_only], subject.fixture)
    assert report.notes == ("verified of no client, since all skipped it: embed_ids, arguments",)
    assert report.exit_code() == 0
    clients = [texts_only, subject.client(language="other")]
    assert judge(subject.model, clients, subject.fixture).notes == ()
    other = subject.fixture.model_copy(update={"fingerprint": "0" * 64})
    report = judge(subject.model, clients, other)
    assert report.notes == ("the fixture was made for another file; its vectors decide",)


@pytest.mark.parametrize(
    ("fault", "prepare", "asked", "status", "says"),
    [
        (
            "CrashesAlways",
            (("make", "it so"), ("sh", "x")),
            False,
            Status.MISSING_TOOLCHAIN,
            UNPREPARED,
        ),
        ("CrashesAlways", (python("pass"),), True, Status.CRASH, "cannot load the runtime"),
        ("none", (python("raise SystemExit('no gem')"),), True, Status.ERROR, "no gem"),
        ("none", (python("raise SystemExit('no gem')"),), False, Status.PASS, ""),
        ("none", (python("pass"),), True, Status.PASS, ""),
    ],
)
def test_a_client_may_have_to_be_prepared(
    subject: SubjectFiles,
    fault: str,
    prepare: tuple[tuple[str, ...], ...],
    asked: bool,
    status: Status,
    says: str,
) -> None:
    """Its commands run when that is asked for, and never without; they are told otherwise."""
    client = subject.client(fault, prepare=prepare)
    report = judge(subject.model, [client], subject.fixture, prepare=asked)
    assert statuses(report) == {status}
    assert re.search(says, report.verdicts[0].message)


TAKEN = ("tiny", "ruby", "cuda")


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


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, f"reports language {name}, which is not its own") for name in TAKEN),
        *(
            (name, "answer to start: client.language: ")
            for name in ("Go", "go lang", "go\u200b", "")
        ),
    ],
)
def test_foreign_client_may_not_take_a_name(
    subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    """It passes for no other, no generated language and no device, and has a plain name."""
    clients = [subject.client(), foreign(subject, name, monkeypatch)]
    required = [name] if name in TAKEN else []
    report = judge(subject.model, clients, subject.fixture, required=required)
    assert statuses(report, "tiny") == {Status.PASS}
    assert report.exit_code() == 1
    assert says in report.failures[0].message


def test_what_cannot_be_judged_is_refused(subject: SubjectFiles, tmp_path: Path) -> None:
    """A language has one client, as verdicts carry its name; a file that is no model has none."""
    with pytest.raises(InputError, match="of language tiny too"):
        judge(subject.model, [subject.client(), subject.client()], subject.fixture)
    with pytest.raises(InputError, match="cannot be read"):
        judge(tmp_path / "none.onnx", [subject.client()], subject.fixture)


def test_heavy_packages_are_not_imported() -> None:
    """The judge runs where neither onnx, onnxruntime nor tokenizers is installed."""
    script = (
        "import sys\n"
        "sys.modules |= dict.fromkeys(('onnx', 'onnxruntime', 'onnxscript', 'tokenizers'))\n"
        "from polybake.verification.reporting import report_table, report_json, report_junit\n"
        "from polybake.verification import verify\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
