"""The report as annotations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from polybake.verification.reporting.report_github import MOST, report_github
from polybake.verification.verdict import Stage, Status, Verdict
from support.samples.sample_report import sample_report


def parsed(line: str) -> tuple[str, dict[str, str], str]:
    """Take a line apart as the runner does. Source: actions/runner, ActionCommand.cs."""
    assert line.startswith("::")
    end = line.index("::", 2)
    name, _, properties = line[2:end].partition(" ")
    found = {}
    for one in filter(None, properties.split(",")):
        key, _, value = one.partition("=")
        for escape, character in (("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(escape, character)
        found[key] = value
    return name, found, line[end + 2 :].replace("%25", "%")


def test_failures_are_errors_and_skips_notices() -> None:
    """Failures are errors, warnings are warnings, and each stands at the given file."""
    text = report_github(sample_report(warnings=("it grew",)), Path("ci/poly,bake:100%.toml"))
    found = [parsed(line) for line in text.splitlines()]
    assert [(kind, one["title"]) for kind, one, _ in found] == [
        ("error", "polybake verify: csharp on cuda"),
        ("warning", "polybake verify: a difference grew"),
        ("notice", "polybake verify: node on cpu"),
    ]
    assert {one["file"] for _, one, _ in found} == {"ci/poly,bake:100%.toml"}
    assert found[2][2] == (
        "case plain, stage tokenize and 5 more: missing-toolchain: not on PATH: npm"
    )


def test_no_message_is_a_command_of_its_own() -> None:
    """Line breaks, colons and percent signs of a client stay within its annotation."""
    for hostile in ("a\n::add-mask::b", "a\r\n::stop-commands::x", "100%0A::error::b", "%25"):
        ruby = sample_report().runs[0]
        runs = (ruby, replace(ruby, language=hostile))
        verdicts = (
            Verdict("ruby", "cpu", hostile, Stage.EMBED, Status.FAIL, hostile),
            Verdict(hostile, "cpu", "one", Stage.EMBED, Status.CRASH, "ended"),
        )
        report = sample_report(runs=runs, verdicts=verdicts)
        first, second = report_github(report).splitlines()
        assert parsed(first)[1] == {"title": "polybake verify: ruby on cpu"}
        shown = hostile.replace("\r", "\\r").replace("\n", "\\n")
        assert parsed(first)[2].endswith(f"fail: {shown}")
        assert parsed(second)[1] == {"title": f"polybake verify: {shown} on cpu"}


def test_a_client_has_one_annotation() -> None:
    """GitHub drops all beyond ten of a kind, so that one client would leave others no room."""
    ruby, csharp, _ = sample_report().runs
    verdicts = tuple(
        Verdict(run.language, run.device, "one", Stage.EMBED, Status.FAIL, str(number))
        for run in (ruby, csharp)
        for number in range(30)
    )
    lines = report_github(sample_report(verdicts=verdicts)).splitlines()
    assert [parsed(line)[2] for line in lines] == 2 * [
        "case one, stage embed: fail: 0; 29 other stages did not pass either"
    ]


def test_what_github_would_not_show_is_counted() -> None:
    """A sentence counts the annotations beyond ten, which GitHub would drop silently."""
    warnings = tuple(f"{number} grew" for number in range(30))
    passes = tuple(one for one in sample_report().verdicts if one.language == "ruby")
    lines = report_github(sample_report(verdicts=passes, warnings=warnings)).splitlines()
    assert len(lines) == MOST
    assert lines[-1].endswith(f"::{30 - MOST + 1} more are in the log")


def test_every_red_run_has_an_annotation() -> None:
    """Missing languages and empty runs have an annotation too; passing runs have none."""
    passes = tuple(one for one in sample_report().verdicts if one.language == "ruby")
    assert report_github(sample_report(verdicts=passes)) == ""
    (missing,) = report_github(sample_report(verdicts=passes, missing=("no ruby",))).splitlines()
    assert parsed(missing)[::2] == ("error", "no ruby")
    (nothing,) = report_github(sample_report(verdicts=())).splitlines()
    assert parsed(nothing)[::2] == ("error", "Nothing was verified: no client ran a single case")
