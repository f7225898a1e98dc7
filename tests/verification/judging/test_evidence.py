"""The evidence that a run keeps for its reports: distances, and the rows that differ most."""

from __future__ import annotations

import json

import numpy as np
import pytest

from faulty.subject import CASES, DIMENSION, OUTPUTS, SubjectFiles
from polybake.verification.judge import judge
from polybake.verification.judging.evidence import MOST, Difference, Evidence
from polybake.verification.judging.golden import decode_fixture
from polybake.verification.judging.stages import Outcome
from polybake.verification.judging.worst_case import (
    CHARACTERS,
    TOKENS,
    TokenPair,
    read_vocabulary,
    shown_text,
    side_by_side,
)
from polybake.verification.report import ClientRun
from polybake.verification.reporting.report_json import report_json
from polybake.verification.verdict import (
    ALL_STAGES,
    CASE_STAGES,
    MANY_STAGES,
    SESSION,
    Stage,
    Status,
)


def run_of(subject: SubjectFiles, fault: str) -> ClientRun:
    """The run of a client with a fault."""
    (run,) = judge(subject.model, [subject.client(fault)], subject.fixture).runs
    return run


def test_a_right_client_has_no_difference_and_no_worst_case(subject: SubjectFiles) -> None:
    run = run_of(subject, "none")
    assert run.differences == tuple(
        Difference(stage, 1e-5, 0.0) for stage in (Stage.EMBED, Stage.EMBED_IDS, *MANY_STAGES)
    )
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
    assert [one.largest for one in run.differences] == pytest.approx([2e-5] * 4, rel=1e-2)


@pytest.mark.parametrize("fault", ["OneFloatOff", "LosesBatches"])
def test_the_largest_difference_is_that_of_the_verdicts(subject: SubjectFiles, fault: str) -> None:
    """Whichever stage shows it: lists of many texts count as single cases do."""
    report = judge(subject.model, [subject.client(fault)], subject.fixture)
    farthest = max(report.runs[0].differences, key=lambda one: one.largest)
    judged = [v for v in report.verdicts if v.stage in ALL_STAGES and v.difference is not None]
    worst = max(judged, key=lambda one: one.difference or 0.0)
    assert (farthest.stage, farthest.case) == (worst.stage, worst.case)
    assert farthest.largest == pytest.approx(worst.difference)


def test_other_tokens_stand_beside_the_expected_ones(subject: SubjectFiles) -> None:
    """Tokens are kept only where they differ."""
    run = run_of(subject, "DroppedToken")
    row = {row.case: row for row in run.worst}["two"]
    assert (row.row, row.text) == (1, ("c d",))
    pairs = [(pair.expected, pair.found) for pair in row.tokens]
    assert pairs == [("? 2", "? 2"), ("? 12", "? 12"), ("? 13", "? 13"), ("? 3", None)]


@pytest.mark.parametrize("fault", ["NotANumber", "WrongShape", "MissingRow"])
def test_what_is_not_finite_or_misshapen_spoils_no_report(
    subject: SubjectFiles, fault: str
) -> None:
    """Such vectors have a verdict and no figure, as JSON has no NaN."""
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


def test_tokens_of_both_rows_share_a_line() -> None:
    """A lost token moves no other; a long row is shown where it differs, at once."""
    vocabulary = {2: "[CLS]", 7: "a", 8: "b"}
    assert side_by_side([2, 7, 8], [2, 8], vocabulary) == (
        TokenPair("[CLS] 2", "[CLS] 2"),
        TokenPair("a 7", None),
        TokenPair("b 8", "b 8"),
    )
    row = list(range(500))
    pairs = side_by_side(row, [*row[:400], 999, *row[401:]], {})
    assert len(pairs) == TOKENS
    assert pairs[2:4] == (TokenPair("? 399", "? 399"), TokenPair("? 400", "? 999"))
    pairs = side_by_side([1, 2, 3] * 100, [1, 2, *[5, 6] * 500_000], {})
    assert pairs[2] == TokenPair("? 3", "? 5")


def test_long_texts_are_cut() -> None:
    """The texts of a pair are cut one by one."""
    assert [len(part) for part in shown_text(("x" * 5000, "y"))] == [CHARACTERS + 1, 1]


@pytest.mark.parametrize("vocabulary", [{"[UNK]": 0, "a": 1}, [["[UNK]", 0.0], ["a", -1.5]]])
def test_tokens_are_read_with_those_added(vocabulary: object) -> None:
    """Vocabularies of both forms in tokenizer.json are read, with added tokens."""
    tokenizer = {"model": {"vocab": vocabulary}, "added_tokens": [{"id": 2, "content": "<mark>"}]}
    assert read_vocabulary(json.dumps(tokenizer)) == {0: "[UNK]", 1: "a", 2: "<mark>"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"model": {"vocab": [1]}}'])
def test_another_tokenizer_has_no_tokens(text: str) -> None:
    """A tokenizer of unknown form leaves tokens out and does not stop the report."""
    assert read_vocabulary(text) == {}
