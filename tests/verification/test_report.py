"""The exit code that verdicts amount to."""

from __future__ import annotations

import pytest

from polybake.verification.verdict import Stage, Status, Verdict
from support.samples.sample_report import sample_report


def verdict(status: Status) -> Verdict:
    """A verdict on one stage of a case."""
    return Verdict("ruby", "cpu", "one", Stage.EMBED, status)


@pytest.mark.parametrize(
    ("statuses", "missing", "code"),
    [
        ([Status.PASS], (), 0),
        ([Status.PASS, Status.SKIP_CAPABILITY], (), 0),
        ([Status.PASS, Status.MISSING_TOOLCHAIN], (), 0),
        ([Status.PASS, Status.MISSING_DEVICE], (), 0),
        ([Status.PASS, Status.FAIL], (), 1),
        ([Status.PASS, Status.PROVIDER_FALLBACK], (), 1),
        ([Status.PASS, Status.ERROR], (), 1),
        ([Status.PASS, Status.CRASH], (), 1),
        ([Status.PASS, Status.TIMEOUT], (), 1),
        ([], (), 1),
        ([Status.MISSING_TOOLCHAIN], (), 1),
        ([Status.PASS, Status.MISSING_TOOLCHAIN], ("ruby",), 3),
        ([Status.MISSING_TOOLCHAIN], ("ruby",), 3),
        ([Status.FAIL], ("ruby",), 1),
    ],
)
def test_exit_code(statuses: list[Status], missing: tuple[str, ...], code: int) -> None:
    """A failure is 1, something required that is missing 3, nothing executed 1, the rest 0."""
    verdicts = tuple(verdict(status) for status in statuses)
    assert sample_report(verdicts=verdicts, missing=missing).exit_code() == code


def test_only_stages_of_cases_count_as_executed() -> None:
    """Neither a skip nor the self-check is an executed stage."""
    assert sample_report().executed == 2 * 2 * 3
