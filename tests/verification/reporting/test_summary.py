"""The words that all reports for people share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polybake.verification.report import Changes, Report
from polybake.verification.reporting.summary import changed, headline, nearness, troubles
from polybake.verification.verdict import Status
from support.samples.sample_report import sample_report


def only(*languages: str, **fields) -> Report:
    """The sample with only these clients."""
    sample = sample_report(**fields)
    return replace(
        sample,
        runs=tuple(run for run in sample.runs if run.language in languages),
        verdicts=tuple(one for one in sample.verdicts if one.language in languages),
    )


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (sample_report(), ("FAIL", "1 of 3 clients fail")),
        (only("csharp"), ("FAIL", "The client fails")),
        (only("ruby"), ("PASS", "The client gives the golden vectors")),
        (only("ruby", "node"), ("PASS", "1 of 2 clients pass, 1 skipped")),
        (only("node"), ("FAIL", "Nothing was verified: no client ran a single case")),
        (only("ruby", missing=("cuda",)), ("FAIL", "Something that is required is missing")),
    ],
)
def test_the_headline_is_the_exit_code_in_words(report: Report, said: tuple[str, str]) -> None:
    """No report that fails begins with PASS, nor the other way round."""
    assert headline(report) == said
    assert (said[0] == "PASS") == (report.exit_code() == 0)


def test_equal_troubles_are_told_once() -> None:
    """Equal failures and skips share a line, and passes have none."""
    found = [(one.first.status, one.place) for one in troubles(sample_report().verdicts)]
    assert found == [
        (Status.FAIL, "case long, stage embed"),
        (Status.MISSING_TOOLCHAIN, "case plain, stage tokenize and 5 more"),
    ]


def test_a_difference_stands_beside_its_limit() -> None:
    """An exact 0 is written as 0, and integers have steps."""
    ruby, csharp, _ = sample_report().runs
    assert (nearness(ruby), nearness(csharp)) == ("2.1e-07 of 1e-05", "6e-05 of 2e-05")
    (one,) = ruby.distributions
    equal, steps = replace(one, largest=0.0), replace(one, largest=1.0, limit=None)
    assert nearness(replace(ruby, distributions=(equal,))) == "0 of 1e-05"
    assert nearness(replace(ruby, distributions=(steps,))) == "1 step"
    assert nearness(replace(ruby, distributions=())) == ""


def test_no_change_is_told_too() -> None:
    """A silent report could mean that the baseline was not read."""
    assert [*changed(Changes())] == [("changed", "nothing since the baseline")]
    assert [*changed(Changes(failing=("a",), others=("b",)))] == [
        ("new failure", "a"),
        ("changed", "b"),
    ]
