"""Stages that no client executed."""

from __future__ import annotations

import pytest

from faulty.subject import SubjectFiles
from polybake.verification.judge import judge
from polybake.verification.unverified import unverified
from polybake.verification.verdict import Stage, Status, Verdict


def verdict(language: str, stage: Stage, status: Status) -> Verdict:
    """A verdict on one case."""
    return Verdict(language, "cpu", "one", stage, status)


def test_a_stage_that_all_skip_is_named() -> None:
    """A stage is named only if every client that ran skipped it."""
    verdicts = [
        verdict("ruby", Stage.EMBED, Status.PASS),
        verdict("ruby", Stage.TOKENIZE, Status.SKIP_CAPABILITY),
        verdict("ruby", Stage.EMBED_IDS, Status.SKIP_CAPABILITY),
        verdict("node", Stage.EMBED, Status.MISSING_TOOLCHAIN),
        verdict("node", Stage.TOKENIZE, Status.FAIL),
        verdict("node", Stage.EMBED_IDS, Status.MISSING_TOOLCHAIN),
    ]
    assert unverified(verdicts) == ("verified of no client, since all skipped it: embed_ids",)


def test_where_nothing_was_executed_the_summary_says_enough() -> None:
    """A run without executed stages does not list each of them."""
    assert unverified([verdict("ruby", Stage.EMBED, Status.MISSING_TOOLCHAIN)]) == ()


@pytest.mark.slow
def test_the_report_has_it(subject: SubjectFiles) -> None:
    """A client that takes only texts gets a note, though its exit code is 0."""
    report = judge(subject.model, [subject.client("OnlyTexts")], subject.fixture)
    assert report.notes == ("verified of no client, since all skipped it: embed_ids",)
    assert report.exit_code() == 0
