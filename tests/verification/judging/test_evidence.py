"""The evidence that a run keeps for its reports."""

from __future__ import annotations

import json

import numpy as np
import pytest

from faulty.subject import CASES, DIMENSION, OUTPUTS, SubjectFiles
from polybake.verification.judge import judge
from polybake.verification.judging.evidence import MOST, Evidence
from polybake.verification.judging.golden import decode_fixture
from polybake.verification.judging.stages import Outcome
from polybake.verification.report import ClientRun
from polybake.verification.reporting.report_json import report_json
from polybake.verification.verdict import CASE_STAGES, SESSION, Stage, Status

ELEMENTS = sum(len(rows) for _, rows in CASES.values()) * DIMENSION


def run_of(subject: SubjectFiles, fault: str) -> ClientRun:
    """The run of a client with a fault."""
    (run,) = judge(subject.model, [subject.client(fault)], subject.fixture).runs
    return run


def test_a_right_client_has_equal_elements_and_no_worst_case(subject: SubjectFiles) -> None:
    """Every element of both stages is counted."""
    run = run_of(subject, "none")
    assert [(one.stage, one.equal) for one in run.distributions] == [
        (Stage.EMBED, ELEMENTS),
        (Stage.EMBED_IDS, ELEMENTS),
    ]
    assert run.worst == ()


def test_the_element_that_differs_is_shown(subject: SubjectFiles) -> None:
    """The worst element has its place, both values, the text of its row and the case's reason."""
    run = run_of(subject, "OneFloatOff")
    assert {row.case for row in run.worst} == {*CASES, SESSION}
    assert len(run.worst) == len(CASES) + 1 <= MOST
    found = {row.case: row for row in run.worst}["two"]
    assert (found.row, found.text, found.element) == (1, ("c d",), DIMENSION - 1)
    assert found.why == "shows what the judge does with it"
    assert found.expected is not None
    assert found.found == pytest.approx(found.expected + 2e-5, abs=1e-7)
    assert found.difference == pytest.approx(2e-5, rel=1e-2)
    assert (found.beyond, found.limit, found.tokens) == (True, 1e-5, ())
    for one in run.distributions:
        assert sum(count for number, count in one.counts if number > 0) == len(CASES)


def test_other_tokens_stand_beside_the_expected_ones(subject: SubjectFiles) -> None:
    """Tokens are kept only where they differ."""
    run = run_of(subject, "DroppedToken")
    row = {row.case: row for row in run.worst}["two"]
    assert (row.row, row.text) == (1, ("c d",))
    assert [(pair.expected, pair.found) for pair in row.tokens] == [
        ("? 2", "? 2"),
        ("? 12", "? 12"),
        ("? 13", "? 13"),
        ("? 3", None),
    ]


def test_what_is_not_finite_or_misshapen_spoils_no_report(subject: SubjectFiles) -> None:
    """Such vectors have a verdict and no figure, as JSON has no NaN."""
    for fault in ("NotANumber", "WrongShape", "MissingRow"):
        report = judge(subject.model, [subject.client(fault)], subject.fixture)
        assert report.failures
        json.loads(report_json(report), parse_constant=pytest.fail)


@pytest.mark.parametrize("stages", [CASE_STAGES[1:], CASE_STAGES[:0:-1]])
def test_the_worse_stage_of_a_row_is_shown(subject: SubjectFiles, stages: list[Stage]) -> None:
    """The order in which stages were asked does not matter."""
    tolerance = subject.fixture.tolerances["cpu"]
    (golden, *_) = decode_fixture(subject.fixture, ["cpu"], OUTPUTS["float32"]).cases
    evidence = Evidence()
    for stage in stages:
        off = np.float32(3e-6 if stage is Stage.EMBED_IDS else 1e-6)
        outcome = Outcome(Status.PASS, vectors=golden.vectors + off)
        evidence.add(stage, golden, None, outcome, tolerance)
    (row,) = evidence.worst("")
    assert (row.stage, row.beyond) == (Stage.EMBED_IDS, False)
