"""The report in sentences: what was skipped or failed, and the largest differences seen."""

from __future__ import annotations

from collections.abc import Iterator

from polybake.verification.report import Report
from polybake.verification.verdict import CASE_STAGES, Verdict


def report_lines(report: Report) -> Iterator[str]:
    """One line for each distinct skip and failure, each largest difference, each note."""
    yield from _troubles(report)
    worst = largest_of(report.verdicts)
    if worst:
        yield (
            f"largest difference from the golden vectors: {worst.difference:.1e} "
            f"({worst.language} on {worst.device}, case {worst.case}, stage {worst.stage})"
        )
    for device in dict.fromkeys(between.device for between in report.between):
        between = max(
            (between for between in report.between if between.device == device),
            key=lambda between: between.difference,
        )
        yield (
            f"largest difference between languages on {device}: {between.difference:.1e} "
            f"({' and '.join(between.languages)}, case {between.case}, row {between.row})"
        )
    yield from (f"note: {note}" for note in report.notes)
    yield from (f"MISSING {sentence}" for sentence in report.missing)
    yield _summary(report)


def largest_of(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The verdict on a case with the largest difference; None where none has one."""
    measured = (v for v in verdicts if v.stage in CASE_STAGES and v.difference is not None)
    return max(measured, key=lambda verdict: verdict.difference or 0.0, default=None)


def _troubles(report: Report) -> Iterator[str]:
    """Verdicts of one client that share status and message share a line."""
    groups: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for verdict in report.verdicts:
        if verdict.status.failed or verdict.status.skipped:
            key = (verdict.language, verdict.device, verdict.status, verdict.message)
            groups.setdefault(key, []).append(verdict)
    for (language, device, status, message), verdicts in groups.items():
        first = verdicts[0]
        word = "FAIL" if first.status.failed else "SKIP"
        more = f" and {len(verdicts) - 1} more" if len(verdicts) > 1 else ""
        yield (
            f"{word} {language} on {device}, case {first.case}, stage {first.stage}{more}: "
            f"{status}: {message}"
        )


def _summary(report: Report) -> str:
    if not report.executed:
        return "nothing was verified: no client ran a single case"
    asked = report.cases * len(CASE_STAGES) * len(report.runs)
    return (
        f"{report.executed} of {asked} stages executed "
        f"({len(report.runs)} runs x {report.cases} cases x {len(CASE_STAGES)} stages), "
        f"failures: {len(report.failures)}"
    )
