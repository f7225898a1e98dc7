"""The changes since an earlier report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.verification.report import Changes, Report
from polybake.verification.reporting.baseline import changes, read_baseline
from polybake.verification.reporting.report_json import report_json
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


def test_the_same_report_has_no_changes(tmp_path: Path) -> None:
    """Failures that were there before are not new."""
    assert since(tmp_path, sample_report(), sample_report()) == Changes()


def test_new_failures_and_mended_ones(tmp_path: Path) -> None:
    """Each change also shows the earlier status."""
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
