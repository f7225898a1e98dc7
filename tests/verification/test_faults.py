"""The judge catches every planted fault, names its stage, and blames nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest

from faulty.faults import FAULTS
from faulty.subject import CASES, SubjectFiles
from polybake.verification.judge import judge
from polybake.verification.report import Report
from polybake.verification.session import Timeouts
from polybake.verification.verdict import CASE_STAGES, MANY_STAGES, SESSION, Stage, Status
from support.processes.signals import posix

pytestmark = pytest.mark.slow

PATIENT = Timeouts(load=60, answer=60, stop=60)
HASTY = Timeouts(load=60, answer=1, stop=60)

ALL = tuple(CASES)
BATCHES = ("two", "three")
VECTORS = (Stage.EMBED_IDS, Stage.EMBED, *MANY_STAGES)


@dataclass(frozen=True)
class Caught:
    """What the judge must say: one status for some stages of some cases, and pass elsewhere."""

    status: Status
    stages: tuple[Stage, ...] = CASE_STAGES
    cases: tuple[str, ...] = ALL
    says: str = ""
    device: str = "cpu"
    timeouts: Timeouts = PATIENT
    precision: str = "float32"
    once: tuple[Stage, ...] = ()
    #: Cases that are not asked, as the client was given up before.
    rest: tuple[str, ...] = ()
    #: Single stages of single cases that have the status, too.
    places: tuple[tuple[str, Stage], ...] = ()

    def statuses(self) -> dict[tuple[str, str], Status]:
        """Status by case and stage, where it is not pass."""
        of_cases = [stage for stage in self.stages if stage not in MANY_STAGES]
        lost = [*product(self.cases, of_cases), *product(self.rest, CASE_STAGES), *self.places]
        once = [*self.once, *(stage for stage in self.stages if stage in MANY_STAGES)]
        return dict.fromkeys([*lost, *product([SESSION], once)], self.status)


def never_ran(status: Status, says: str, **fields) -> Caught:
    """Every stage has the status in every case, as have many texts and the self-check."""
    return Caught(status, says=says, once=(*MANY_STAGES, Stage.SELF_CHECK), **fields)


def once(status: Status, stage: Stage, says: str, **fields) -> Caught:
    """Only a stage that happens once has the status."""
    return Caught(status, cases=(), says=says, once=(stage,), **fields)


def wrong(precision: str, says: str, cases: tuple[str, ...] = ALL) -> Caught:
    """The vectors of a quantized model fail."""
    return Caught(Status.FAIL, VECTORS, cases, says, precision=precision)


ONLY_IDS = (Stage.TOKENIZE,)
ONLY_EMBED_IDS = (Stage.EMBED_IDS,)
ONLY_EMBED = (Stage.EMBED, Stage.BATCHES)

EXPECTED = {
    "WrongId": Caught(Status.FAIL, ONLY_IDS, says="id 4, expected 3"),
    "DroppedToken": Caught(Status.FAIL, ONLY_IDS, says="ids, expected"),
    "AddedToken": Caught(Status.FAIL, ONLY_IDS, says="row 0: 4 ids, expected 3"),
    "IdsAsFloats": Caught(Status.ERROR, ONLY_IDS, says="rows of integers"),
    "ForgetsPrompt": Caught(Status.FAIL, (Stage.TOKENIZE, Stage.EMBED), ("query",), "row 0"),
    "OneFloatOff": Caught(Status.FAIL, VECTORS, says="element 7: difference 2e-05 exceeds 1e-05"),
    "SwappedRows": Caught(Status.FAIL, VECTORS, BATCHES, "row"),
    "RepeatedRow": Caught(Status.FAIL, VECTORS, BATCHES, "row 1"),
    "MissingRow": Caught(Status.FAIL, VECTORS, says="shape"),
    "NotANumber": Caught(Status.FAIL, VECTORS, says="row 0, element 3: nan is not a finite"),
    "Infinite": Caught(Status.FAIL, VECTORS, says="element 0: inf is not a finite"),
    "Zeros": Caught(Status.FAIL, VECTORS, says="difference"),
    "Negated": Caught(Status.FAIL, VECTORS, says="difference"),
    "NotNormalised": Caught(Status.FAIL, VECTORS, says="exceeds 1e-05"),
    "HalfPrecision": Caught(Status.FAIL, VECTORS, says="exceeds 1e-05"),
    "DependsOnBatch": Caught(Status.FAIL, VECTORS, BATCHES, "difference 0.001 exceeds"),
    "GivesTheLastVectors": Caught(Status.FAIL, ONLY_EMBED, says="expected"),
    "WrongShape": Caught(Status.FAIL, VECTORS, says="expected [1, 8]"),
    "ClaimsFloat64": Caught(Status.FAIL, VECTORS, says="dtype float64, expected float32"),
    "TruncatedData": Caught(Status.ERROR, VECTORS, says="bytes, expected 32 for [1, 8]"),
    "BrokenData": Caught(Status.ERROR, VECTORS, says="not base64"),
    "VectorsAsLists": Caught(Status.ERROR, VECTORS, says="dtype, shape and data"),
    "LosesBatches": once(Status.FAIL, Stage.BATCHES, "exceeds 1e-05"),
    "LosesTheShortBatch": once(Status.FAIL, Stage.BATCHES, "exceeds 1e-05"),
    "DoublesABatch": once(Status.FAIL, Stage.BATCHES, "exceeds 1e-05"),
    "OrderOfBatches": once(Status.FAIL, Stage.BATCHES, "exceeds 1e-05"),
    "StreamEndsEarly": once(Status.FAIL, Stage.STREAM, "shape ["),
    "StreamReusesABuffer": once(Status.FAIL, Stage.STREAM, "exceeds 1e-05"),
    "OneStepOff": wrong("int8", "1 elements differ by more than rounding"),
    "RoundsUp": wrong("int8", "4 elements differ by more than rounding"),
    "TwoStepsAtAnEdge": wrong("int8", "row 0, element 0: "),
    "Unsigned": wrong("int8", "dtype uint8, expected int8"),
    "TurnedBit": wrong("ubinary", "1 elements differ by more than rounding"),
    "BitOrder": wrong("ubinary", "row 0, element"),
    "ByteOrder": wrong("ubinary", "row 0, element"),
    "LessHalf": wrong("ubinary", "8 elements differ by more than rounding"),
    "PrintsGarbage": Caught(
        Status.ERROR, ONLY_EMBED, says="in ASCII: warning: 1 file", once=(Stage.SELF_CHECK,)
    ),
    "ByteOrderMark": never_ran(Status.ERROR, "not a line of JSON in ASCII"),
    "NotAscii": Caught(
        Status.ERROR, ONLY_EMBED, says="not a line of JSON in ASCII", once=(Stage.SELF_CHECK,)
    ),
    "NotJson": Caught(Status.ERROR, ONLY_IDS, says="not a line of JSON"),
    "NotAnAnswer": Caught(Status.ERROR, ONLY_EMBED_IDS, says="not an answer of the protocol"),
    "WrongSeq": Caught(Status.ERROR, ONLY_EMBED_IDS, says="to request 4, expected one to 3"),
    "AnswersTwice": Caught(Status.ERROR, (Stage.EMBED,), says="an answer to request 1"),
    "NeverAnswers": Caught(Status.TIMEOUT, cases=("two",), says="in 1 s", timeouts=HASTY),
    "HangsOnEveryFifth": Caught(
        Status.TIMEOUT,
        cases=(),
        says="no answer in 2 s",
        timeouts=Timeouts(load=60, answer=2, stop=2),
        places=(
            ("two", Stage.TOKENIZE),
            ("three", Stage.EMBED),
            ("query", Stage.EMBED_IDS),
        ),
    ),
    "HangsOnEveryOther": never_ran(
        Status.TIMEOUT,
        "given up after 6 lost stages: no answer in 1 s",
        timeouts=Timeouts(load=60, answer=1, stop=60),
    ),
    "CrashesOnCase": Caught(Status.CRASH, cases=("three",), says="code 1; standard error: out of"),
    "Killed": Caught(Status.CRASH, (Stage.EMBED,), ("three",), "ended by signal 9"),
    "CrashesOften": Caught(
        Status.CRASH,
        VECTORS,
        ("one", "two", "three"),
        "given up after 6 lost stages: ended with exit code 9",
        once=(Stage.SELF_CHECK,),
        rest=("query",),
    ),
    "CrashesAlways": never_ran(Status.CRASH, "standard error: cannot load the runtime"),
    "CrashesAfterStart": never_ran(Status.CRASH, "ended with exit code 7"),
    "SlowStart": never_ran(Status.TIMEOUT, "no answer in 1 s", timeouts=Timeouts(load=1)),
    "EmbedErrors": Caught(Status.ERROR, ONLY_EMBED, says="invalid_text at index 0: repair it"),
    "SkipsEmbedIds": Caught(
        Status.ERROR, ONLY_EMBED_IDS, says="what its capabilities say that it can: takes texts only"
    ),
    "OnlyTexts": Caught(Status.SKIP_CAPABILITY, ONLY_EMBED_IDS, says="takes texts only"),
    "OnlyTokenizes": never_ran(Status.ERROR, "has no capability embed, without which"),
    "WrongFingerprint": never_ran(Status.ERROR, "reports fingerprint 000"),
    "WrongName": never_ran(Status.ERROR, "reports name other-model, expected tiny-model"),
    "WrongLanguage": never_ran(Status.ERROR, "reports language tiny-copy"),
    "WrongProtocol": never_ran(Status.ERROR, "answer to start: protocol"),
    "FallsBack": never_ran(Status.PROVIDER_FALLBACK, "CPUExecutionProvider is", device="cuda"),
    "ClaimsCuda": never_ran(Status.PROVIDER_FALLBACK, "CUDAExecutionProvider is active"),
    "NoDevice": never_ran(Status.MISSING_DEVICE, "no CUDA here", device="cuda"),
    "SelfCheckFails": once(Status.FAIL, Stage.SELF_CHECK, "gave 0.5, expected 0 to 1e-05"),
    "SelfCheckNaN": once(Status.ERROR, Stage.SELF_CHECK, "not a line of JSON"),
    "SelfCheckText": once(Status.ERROR, Stage.SELF_CHECK, "'fine', expected a number"),
    "TakesAnyPrompt": once(
        Status.FAIL,
        Stage.ARGUMENTS,
        "a prompt that the model does not have: an answer, expected an error of kind unknown",
    ),
    "LosesTheIndex": once(
        Status.FAIL,
        Stage.ARGUMENTS,
        "half a surrogate pair: an error of kind invalid_text, expected",
    ),
    "EndsOnNoTexts": once(Status.CRASH, Stage.ARGUMENTS, "no texts: ended with exit code 5"),
    "ExitCode": once(Status.CRASH, Stage.STOP, "ended with exit code 3"),
    "StaysAfterStop": once(Status.TIMEOUT, Stage.STOP, "after stop", timeouts=Timeouts(stop=1)),
    "TalksAfterStop": once(Status.ERROR, Stage.STOP, "a line that nothing asked for"),
}


def judged(subject: SubjectFiles, fault: str, device: str, timeouts: Timeouts) -> Report:
    """The report on one client with the fault."""
    client = subject.client(fault)
    return judge(subject.model, [client], subject.fixture, devices=[device], timeouts=timeouts)


#: Faults that need a mark; the harness that never answers stands for those that hang now and then.
MARKS = {
    "Killed": posix,
    "HangsOnEveryFifth": pytest.mark.weekly,
    "HangsOnEveryOther": pytest.mark.weekly,
}


@pytest.mark.parametrize("fault", [pytest.param(one, marks=MARKS.get(one, ())) for one in EXPECTED])
def test_fault_is_caught(subjects: dict[str, SubjectFiles], fault: str) -> None:
    """Exactly the faulty stages get the expected status, with a message that says what is wrong."""
    expected = EXPECTED[fault]
    report = judged(subjects[expected.precision], fault, expected.device, expected.timeouts)
    # What is wrong with texts is often wrong with few and none, too.
    ignored = {Stage.ARGUMENTS}.difference(expected.once)
    told = (v for v in report.verdicts if v.stage not in ignored)
    found = {(v.case, v.stage): v for v in told if v.status is not Status.PASS}
    assert {key: verdict.status for key, verdict in found.items()} == expected.statuses()
    assert any(expected.says in verdict.message for verdict in found.values())
    assert report.exit_code() == (0 if expected.status is Status.SKIP_CAPABILITY else 1)


@pytest.mark.parametrize(
    ("device", "precision"),
    [("cpu", "float32"), ("cuda", "float32"), ("cpu", "int8"), ("cpu", "ubinary")],
)
def test_faultless_harness_passes(
    subjects: dict[str, SubjectFiles], device: str, precision: str
) -> None:
    """The harness without a fault passes every stage, the self-check and the stop."""
    report = judged(subjects[precision], "none", device, PATIENT)
    assert {verdict.status for verdict in report.verdicts} == {Status.PASS}
    assert report.executed == len(CASES) * len(CASE_STAGES) + len(MANY_STAGES)
    assert report.exit_code() == 0


def test_every_fault_is_expected() -> None:
    """No planted fault is without an expectation."""
    assert FAULTS.keys() == EXPECTED.keys() | {"HasNoStream"}  # which is none
