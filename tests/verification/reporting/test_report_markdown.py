"""The report as a comment on a pull request."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from polybake.verification.report import Changes, ClientRun
from polybake.verification.reporting.report_markdown import LONGEST, report_markdown
from polybake.verification.verdict import Stage, Status, Verdict
from support.clients.hostile import HOSTILE
from support.samples.sample_report import sample_report

SCRIPT = "</details><script> @someone #1 | ` `` x"


def outside_code(text: str) -> str:
    """The text that a Markdown reader does not take for code."""
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_the_verdict_comes_first_and_failures_are_folded() -> None:
    """A row for each client stands between verdict and failures."""
    lines = report_markdown(sample_report()).splitlines()
    assert lines[0] == "### ❌ polybake verify: 1 of 3 clients fail"
    rows = [line for line in lines if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[1:]] == ["| ✅ PASS", "| ❌ FAIL", "| ⚪ SKIP"]
    assert "2.1e-07 of 1e-05" in rows[1]
    begin, end = lines.index("<details>"), lines.index("</details>")
    (failure,) = [line for line in lines[begin:end] if line.startswith("- ")]
    assert failure.startswith("- `csharp on cuda`, `case long, stage embed`: fail: `bad \\x00")


def test_a_pass_folds_nothing() -> None:
    """Skips are no failures, and remarks beside the verdict have a list."""
    verdicts = tuple(one for one in sample_report().verdicts if one.language != "csharp")
    changes = Changes(mended=("ruby on cpu",))
    text = report_markdown(sample_report(verdicts=verdicts, changes=changes, warnings=("grew",)))
    assert "<details>" not in text
    assert "**Since the baseline**\n\n- mended: `ruby on cpu`\n" in text
    assert "**Grew within the limit**\n\n- `grew`\n" in text


@pytest.mark.parametrize("text", [HOSTILE, SCRIPT])
def test_what_comes_from_outside_is_code(text: str) -> None:
    """Hostile text mentions nobody, makes no element and ends no cell."""
    run = sample_report().runs[0]
    assert run.versions
    versions = run.versions.model_copy(update={"runtime_version": text})
    report = sample_report(
        model=text,
        runs=(replace(run, versions=versions), ClientRun(text, "cpu", None, None, 0.0)),
        verdicts=(Verdict("ruby", "cpu", text, Stage.EMBED, Status.FAIL, text),),
        missing=(text,),
        notes=(text,),
        changes=Changes(failing=(text,)),
    )
    shown = report_markdown(report)
    for mark in ("@someone", "#1", "<script", "<!--", "${1}"):
        assert mark not in outside_code(shown)
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}


def test_many_failures_fit_a_comment() -> None:
    """The number left out is told, and every folded part is closed."""
    verdicts = tuple(
        Verdict("ruby", "cpu", f"{case}", Stage.EMBED, Status.FAIL, f"{case} " + "\x00" * 900)
        for case in range(200)
    )
    text = report_markdown(sample_report(verdicts=verdicts))
    assert 0.9 * LONGEST < len(text) <= LONGEST
    shown = len(re.findall("^- `ruby on cpu`, ", text, re.MULTILINE))
    assert f"- {200 - shown} more are left out" in text
    assert text.endswith("\n</details>\n")


def test_many_changes_fit_a_comment() -> None:
    """The list of changes before the failures is cut, too."""
    changes = Changes(others=tuple(f"change {number} " + "x" * 500 for number in range(500)))
    text = report_markdown(sample_report(changes=changes))
    assert len(text) <= LONGEST
    assert text.startswith("### ❌")
    assert text.endswith("The rest is left out: a comment has no room for it.\n")
