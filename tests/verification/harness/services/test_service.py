"""Services over HTTP are judged by the same golden cases as generated clients."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from faulty.subject import CASES, SubjectFiles
from models.files.search_model import write_search_model
from polybake.errors import InputError
from polybake.verification.harness.harness_file import foreign_client
from polybake.verification.judge import judge
from polybake.verification.report import Report
from polybake.verification.reporting.summary import failures, troubles, word
from polybake.verification.session import Timeouts
from polybake.verification.verdict import MANY_STAGES, Stage, Status
from polybake.verification.verify import verify
from support.samples.weekly import weekly_but
from support.servers.served import key_file, served

pytest.importorskip("uvicorn", reason="the server's packages are missing: polybake[serve]")

from faulty.web import Web, web

pytestmark = pytest.mark.slow

OPENAI, TEI = "/v1/embeddings", "/embed"


@pytest.fixture(autouse=True)
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no proxy of this machine stand between test and service."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("POLYBAKE_HEADERS", raising=False)


def judged(subject: SubjectFiles, address: str, seconds: float = 20.0) -> Report:
    """The report on one service."""
    clients = [foreign_client(address)]
    return judge(subject.model, clients, subject.fixture, timeouts=Timeouts.of(seconds))


def statuses(report: Report, stage: Stage) -> dict[str, Status]:
    """The status of each case at one stage."""
    return {one.case: one.status for one in report.verdicts if one.stage is stage}


@pytest.mark.parametrize("route", [OPENAI, TEI])
def test_a_faultless_service_passes(subject: SubjectFiles, route: str) -> None:
    """All stages pass except those that it lacks, which are visible skips; prompts are sent."""
    state = Web(subject.fixture)
    with web(state) as url:
        report = judged(subject, url + route)
    assert statuses(report, Stage.EMBED) == dict.fromkeys(CASES, Status.PASS)
    ids = Status.PASS if route == TEI else Status.SKIP_CAPABILITY
    assert statuses(report, Stage.TOKENIZE) == dict.fromkeys(CASES, ids)
    assert set(statuses(report, Stage.EMBED_IDS).values()) == {Status.SKIP_CAPABILITY}
    assert report.exit_code() == 0
    assert word(report.verdicts) == "PASS"
    assert report.runs[0].language == url + route
    assert report.runs[0].provider is None
    versions = report.runs[0].versions
    assert (versions and versions.language_version) == ("9.8.7" if route == TEI else None)
    bodies = [body for path, _, body in state.asked if path == route]
    if route == OPENAI:
        assert {body["encoding_format"] for body in bodies} == {"float", "base64"}
        assert {body["model"] for body in bodies} == {"tiny-model"}
    else:  # which takes 32 texts a request by default
        assert all(body["truncate"] and body["normalize"] is False for body in bodies)
        lengths = [len(body["inputs"]) for body in bodies]
        assert max(lengths) == 32
        assert lengths.count(32) > 2


EVERY, SEVERAL = tuple(CASES), ("two", "three")

FAULTS = [
    ("unnormalised", TEI, Status.FAIL, EVERY, "difference"),
    ("float16", OPENAI, Status.FAIL, EVERY, "exceeds 1e-05"),
    ("wrong dimension", TEI, Status.FAIL, EVERY, "shape [1, 7], expected [1, 8]"),
    ("wrong order", TEI, Status.FAIL, SEVERAL, "difference"),
    ("padding counts", TEI, Status.FAIL, SEVERAL, "difference"),
    ("doubled index", OPENAI, Status.ERROR, SEVERAL, "the service's data has index 0 twice"),
    ("gap in index", OPENAI, Status.ERROR, SEVERAL, "the service's data has no index 1"),
    ("other base64", OPENAI, Status.ERROR, EVERY, "as base64 other vectors than as numb"),
    ("500", TEI, Status.ERROR, EVERY, "HTTP 500: out of memory!!"),
    ("garbage", TEI, Status.ERROR, EVERY, "not JSON: <html>Welcome</html>"),
    ("not a number", TEI, Status.ERROR, EVERY, "not JSON: [[NaN]]"),
    ("ragged", TEI, Status.ERROR, EVERY, "vectors of 1, 2 elements in one answer"),
    ("redirect", TEI, Status.ERROR, EVERY, "HTTP 307 to http://127.0.0.1:9/elsewhere; give"),
]

#: What the report notes where only calls of several texts fail.
NOTES = {
    "wrong order": "only calls of several texts fail: their vectors are in another order",
    "padding counts": "only calls of several texts fail: padding; look at",
}


@pytest.mark.parametrize(("fault", "route", "status", "cases", "says"), FAULTS)
def test_a_wrong_service_is_caught(
    subject: SubjectFiles, fault: str, route: str, status: Status, cases: tuple[str, ...], says: str
) -> None:
    """Just the cases that show the fault fail, and the message says what the service did."""
    with web(Web(subject.fixture, fault)) as url:
        report = judged(subject, url + route)
    assert statuses(report, Stage.EMBED) == {
        case: status if case in cases else Status.PASS for case in CASES
    }
    message = next(one.message for one in report.failures if one.stage is Stage.EMBED)
    assert not message.startswith("internal")
    many = {one.stage: one.status for one in report.verdicts if one.stage in MANY_STAGES}
    assert many == {Stage.BATCHES: status}
    assert says in message
    assert len(message) < 300
    assert NOTES.get(fault, "") in " ".join(report.notes)
    assert report.exit_code() == 1


@pytest.mark.parametrize(
    ("fault", "status", "says"),
    [
        ("wrong ids", Status.FAIL, "4 ids, expected 3"),
        ("uncut", Status.SKIP_CAPABILITY, "does not cut texts that are too long"),
        ("no tokenize", Status.SKIP_CAPABILITY, "the service has no /tokenize"),
    ],
)
def test_token_ids_are_judged_where_they_can_be(
    subject: SubjectFiles, fault: str, status: Status, says: str
) -> None:
    """Ids come from the route /tokenize beside /embed, and count only if texts are cut."""
    with web(Web(subject.fixture, fault)) as url:
        report = judged(subject, url + TEI)
    found = [one for one in report.verdicts if one.stage is Stage.TOKENIZE]
    assert {one.status for one in found} == {status}
    assert says in found[0].message


@pytest.mark.parametrize("fault", weekly_but(1, ["hang", "drip"]))
def test_a_slow_service_ends_in_time(subject: SubjectFiles, fault: str) -> None:
    """Silent and dripping services time out, and after six times no more is asked."""
    begin = time.monotonic()
    with web(Web(subject.fixture, fault)) as url:
        report = judged(subject, url + OPENAI, 0.5)
    assert set(statuses(report, Stage.EMBED).values()) == {Status.TIMEOUT}
    assert "no answer in 0.5 s" in report.failures[0].message
    assert time.monotonic() - begin < 15


def test_a_service_that_is_not_there_is_one_trouble(subject: SubjectFiles) -> None:
    """One failure with the reason is reported, and no stage counts as executed."""
    report = judged(subject, "http://127.0.0.1:9/embed")
    assert (report.executed, failures(report)) == (0, 1)
    (trouble,) = troubles(report.verdicts)
    assert trouble.place == f"{len(report.verdicts)} stages that were not asked"
    assert {one.status for one in report.verdicts} == {Status.CRASH}
    assert "cannot be reached: " in report.failures[0].message
    assert report.exit_code() == 1


def test_a_service_may_answer_in_any_order(subject: SubjectFiles) -> None:
    """OpenAI's schema allows any order: vectors are sorted by index, and the report says so."""
    with web(Web(subject.fixture, "any order")) as url:
        report = judged(subject, url + OPENAI)
    assert report.exit_code() == 0
    assert "came in another order than the texts" in report.notes[0]


def test_polybake_serve_passes_with_its_prompts_by_name(tmp_path: Path) -> None:
    """Both routes pass behind a key; another file asked for by name is refused by fingerprint."""
    model = write_search_model(tmp_path / "search.onnx")
    other = write_search_model(tmp_path / "other.onnx", hidden_act="relu")
    keys = key_file(tmp_path / "keys", "a-secret-key-of-this-service")
    with served(model, "--api-key-file", keys) as service, pytest.MonkeyPatch.context() as patch:
        refused = verify(model, harnesses=[service.url + TEI])
        patch.setenv("POLYBAKE_HEADERS", "Authorization: Bearer a-secret-key-of-this-service")
        report = verify(model, harnesses=[service.url + OPENAI, service.url + TEI])
        wrong = verify(other, harnesses=[service.url + OPENAI + "#search"])
    assert "HTTP 401" in refused.failures[0].message
    assert report.exit_code() == 0, [one.message for one in report.failures]
    embedded = [one for one in report.verdicts if one.stage is Stage.EMBED]
    assert {one.status for one in embedded} == {Status.PASS}
    assert len(embedded) == 2 * report.cases
    assert "serves the file of fingerprint" in wrong.failures[0].message


def test_other_tasks_are_refused(tiny_sparse: Path) -> None:
    """The task is named before anything is asked."""
    with pytest.raises(InputError, match="for the task 'sparse', and services over HTTP are"):
        verify(tiny_sparse, harnesses=["http://127.0.0.1:9/embed"])


def test_a_service_proves_no_device(subject: SubjectFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service does not tell what runs its model, so a required device is not met."""
    monkeypatch.setenv("POLYBAKE_REQUIRE", "cuda")
    with web(Web(subject.fixture)) as url:
        report = verify(subject.model, harnesses=[url + TEI], devices=["cuda"])
    assert report.exit_code() == 3
    assert "cuda is required, but no client ran it" in report.missing[0]
