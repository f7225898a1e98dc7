"""Differences that grow within their limit are noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.verification.report import Report
from polybake.verification.reporting.trend import TrendFile, read_trends, recorded, trends_json
from polybake.verification.verdict import Status
from support.samples.sample_report import sample_report


def ruby(largest: float, runtime: str = "1.31.1") -> Report:
    """The sample with only ruby, on this runtime."""
    sample = sample_report()
    run = sample.runs[0]
    assert run.versions
    run = replace(
        run,
        distributions=(replace(run.distributions[0], largest=largest),),
        versions=run.versions.model_copy(update={"runtime_version": runtime}),
    )
    verdicts = tuple(one for one in sample.verdicts if one.language == "ruby")
    return replace(sample, runs=(run,), verdicts=verdicts)


def after(*reports: Report) -> tuple[TrendFile, tuple[str, ...]]:
    """The file after these reports, and the warnings of the last one."""
    file, warnings = TrendFile(), ()
    for report in reports:
        file, warnings = recorded(file, report)
    return file, warnings


def test_growth_names_the_version_that_brought_it() -> None:
    """A tenfold difference within the limit is growth; nine times is not."""
    _, warnings = after(ruby(1.3e-7, "0.10.1"), ruby(3.1e-6, "0.11.0"))
    (warning,) = warnings
    assert warning == (
        "ruby on cpu, embed: 3.1e-06 of 1e-05, 24 times the 1.3e-07 of runtime 0.10.1; "
        "it came with runtime 0.11.0 (before 0.10.1)"
    )
    assert after(ruby(2e-7), ruby(1.8e-6, "0.11.0"))[1] == ()


def test_the_first_run_warns_of_nothing() -> None:
    """A first run has nothing to compare with."""
    assert after(ruby(9e-6))[1] == ()


def test_an_exact_zero_has_a_floor() -> None:
    """Growth from 0 is counted from 1 % of the limit, so that the last bits are none."""
    assert after(ruby(0.0), ruby(9e-7, "0.11.0"))[1] == ()
    (warning,) = after(ruby(0.0), ruby(3e-6, "0.11.0"))[1]
    assert "30 times the 0 of runtime 1.31.1, as what is below 1% of the limit" in warning


def test_many_small_steps_are_growth() -> None:
    """Steps of five times add up to a warning, which is given once."""
    steps = (ruby(2e-7, "1"), ruby(1e-6, "2"), ruby(5e-6, "3"))
    assert after(*steps[:2])[1] == ()
    (warning,) = after(*steps)[1]
    assert "25 times the 2e-07 of runtime 1; it came with runtime 3 (before 2)" in warning
    assert after(*steps, steps[-1])[1] == ()


def test_growth_without_another_version_points_elsewhere() -> None:
    """Equal versions may run on another machine, for example."""
    (warning,) = after(ruby(2e-7), ruby(4e-6))[1]
    assert warning.endswith("no version changed, so look at the machine")


def test_versions_keep_their_largest() -> None:
    """Only a larger difference changes the record, and its history is limited."""
    file, _ = after(ruby(2e-7), ruby(3e-7), ruby(1e-7))
    assert [one.largest for one in file.trends[0].seen] == [3e-7]
    assert recorded(file, ruby(1e-7))[0] == file
    file, _ = after(*(ruby(2e-7, str(number)) for number in range(50)))
    assert [one.versions["runtime"] for one in file.trends[0].seen][::9] == ["40", "49"]


def test_a_failure_is_not_recorded() -> None:
    """A failure must not become what the next run is compared with."""
    failed = ruby(5e-5)
    verdicts = tuple(replace(one, status=Status.FAIL) for one in failed.verdicts)
    known, _ = after(ruby(2e-7))
    assert recorded(known, replace(failed, verdicts=verdicts)) == (known, ())


def test_others_are_left_as_they_are() -> None:
    """A run of one language, or of another model, forgets no other."""
    both, _ = recorded(TrendFile(), sample_report())
    known = {trend.key for trend in both.trends}
    other = replace(ruby(2e-7), model="another")
    file, _ = recorded(both, other)
    assert {trend.key for trend in file.trends} == known | {("another", "ruby", "cpu", "embed")}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Numbers survive writing and reading; a missing file is an empty record."""
    path = tmp_path / "trend.json"
    assert read_trends(path) == TrendFile()
    file, _ = after(ruby(1 / 3e6))
    path.write_text(trends_json(file))
    assert read_trends(path) == file


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 2}', '{"trends": [{}]}', '{"format": 1, "other": 2}']
)
def test_a_damaged_record_is_refused(tmp_path: Path, text: str) -> None:
    """The message is one line, and the file stays as it is."""
    path = tmp_path / "trend.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"is no record of verify: .*mend or remove it"):
        read_trends(path)
    assert path.read_text() == text
