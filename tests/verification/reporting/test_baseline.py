"""What changed since an earlier report, and what grew within its limit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.verification.report import Changes, Report
from polybake.verification.reporting.baseline import changes, read_baseline
from polybake.verification.reporting.report_json import report_json
from polybake.verification.reporting.trend import TrendFile, read_trends, recorded, trends_json
from polybake.verification.verdict import Status
from support.samples.sample_report import sample_report

MODEL = "all-minilm-l6-v2"


def since(folder: Path, before: Report, now: Report) -> Changes:
    """The changes from one report to another, by way of a file."""
    path = folder / "before.json"
    path.write_text(report_json(before))
    return changes(read_baseline(path, MODEL), now)


def mended() -> Report:
    """The sample report without csharp's failure."""
    sample = sample_report()
    verdicts = (
        replace(one, status=Status.PASS) if one.status.failed else one for one in sample.verdicts
    )
    return replace(sample, verdicts=tuple(verdicts))


def test_new_failures_and_mended_ones(tmp_path: Path) -> None:
    """Each change also shows the earlier status; failures that were there are not new."""
    assert since(tmp_path, sample_report(), sample_report()) == Changes()
    failing = ("csharp on cuda, long embed: fail, was pass",)
    assert since(tmp_path, mended(), sample_report()).failing == failing
    found = since(tmp_path, sample_report(), mended())
    assert (found.failing, found.mended) == ((), ("csharp on cuda, long embed: pass, was fail",))


def test_a_failure_of_what_was_not_run_is_new(tmp_path: Path) -> None:
    """A failure cannot hide behind a baseline that never ran its case."""
    before = sample_report(verdicts=(), runs=())
    found = since(tmp_path, before, sample_report())
    assert found.failing == ("csharp on cuda, long embed: fail, was not asked",)
    assert "csharp on cuda: is new" in found.others
    gone = since(tmp_path, sample_report(), before)
    assert "csharp on cuda: was not run" in gone.others


def test_a_skip_is_not_mended(tmp_path: Path) -> None:
    """A failure that is not looked at any more is still one."""
    sample = sample_report()
    skipped = (
        replace(one, status=Status.MISSING_DEVICE) if one.language == "csharp" else one
        for one in sample.verdicts
    )
    assert since(tmp_path, sample, replace(sample, verdicts=tuple(skipped))).mended == ()


def test_growth_versions_and_model_file(tmp_path: Path) -> None:
    """Tenfold differences within the limit, another runtime and another bake are told."""
    sample = sample_report()
    ruby, *others = sample.runs
    assert ruby.versions
    grown = replace(
        ruby,
        distributions=(replace(ruby.distributions[0], largest=2.2e-6),),
        versions=ruby.versions.model_copy(update={"runtime_version": "1.32.0"}),
    )
    now = replace(sample, runs=(grown, *others), fingerprint="e" * 64)
    found = since(tmp_path, sample, now)
    assert found.grown == ("ruby on cpu, embed: 2.2e-06 of 1e-05, was 2.1e-07",)
    assert found.others == (
        "model file: eeeeeeeeeeee, was ffffffffffff",
        "ruby on cpu: runtime 1.32.0, was 1.31.1",
    )


def test_a_report_of_before_distributions_is_read(tmp_path: Path) -> None:
    """An older report's statuses and versions are compared, and unknown keys do not matter."""
    data = json.loads(report_json(sample_report()))
    for run in data["runs"]:
        del run["distributions"], run["worst"]
    del data["warnings"], data["changes"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(data | {"later": 1}))
    assert changes(read_baseline(path, MODEL), sample_report()) == Changes()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is no report of verify: it is not JSON"),
        ("<?xml", "is no report of verify: it is not JSON"),
        ("[" * 100_000, "is no report of verify: it is not JSON"),
        ("[]", "is no report of verify: "),
        ("{}", "is no report of verify: format: is missing"),
        ('{"format": 2}', "is no report of verify: format: Input should be 1, found 2"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message is one line that says how to write a report."""
    path = tmp_path / "before.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_baseline(path, MODEL)
    assert says in str(caught.value)
    assert str(caught.value).endswith("write one with: polybake verify --json")
    assert "\n" not in str(caught.value)


def test_a_report_on_another_model_is_refused(tmp_path: Path) -> None:
    """The message names both models; a missing file is refused, too."""
    path = tmp_path / "before.json"
    with pytest.raises(InputError, match="cannot be read"):
        read_baseline(path, MODEL)
    path.write_text(report_json(sample_report()))
    with pytest.raises(InputError, match="is a report on 'all-minilm-l6-v2', expected one on 'e5'"):
        read_baseline(path, "e5")


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
    (warning,) = after(ruby(2e-7), ruby(4e-6))[1]
    assert warning.endswith("no version changed, so look at the machine")


def test_an_exact_zero_has_a_floor() -> None:
    """Growth from 0 is counted from 1 % of the limit, and a first run warns of nothing."""
    assert after(ruby(9e-6))[1] == ()
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


def test_versions_keep_their_largest() -> None:
    """Only a larger difference changes the record, and its history is limited."""
    file, _ = after(ruby(2e-7), ruby(3e-7), ruby(1e-7))
    assert [one.largest for one in file.trends[0].seen] == [3e-7]
    assert recorded(file, ruby(1e-7))[0] == file
    file, _ = after(*(ruby(2e-7, str(number)) for number in range(50)))
    assert [one.versions["runtime"] for one in file.trends[0].seen][::9] == ["40", "49"]


def test_a_run_leaves_others_as_they_are() -> None:
    """A run of one language, or of another model, forgets no other, and no failure is recorded."""
    both, _ = recorded(TrendFile(), sample_report())
    known = {trend.key for trend in both.trends}
    file, _ = recorded(both, replace(ruby(2e-7), model="another"))
    assert {trend.key for trend in file.trends} == known | {("another", "ruby", "cpu", "embed")}
    verdicts = tuple(replace(one, status=Status.FAIL) for one in ruby(5e-5).verdicts)
    assert recorded(both, replace(ruby(5e-5), verdicts=verdicts)) == (both, ())


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
