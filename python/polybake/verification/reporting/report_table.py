"""The report for a terminal: a row per language and device, then all that went wrong."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.base.files.printable import printable
from polybake.verification.report import ClientRun, Report
from polybake.verification.reporting.summary import (
    largest,
    nearness,
    passed,
    summary,
    troubles,
    word,
)

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print the table, the versions, the skips and failures, and the largest differences seen."""
    console.print(_table(report))
    console.print()
    for line, style in _lines(report):
        console.print(Text(printable(line), style=style), soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("client", overflow="fold")  # an address may be long
    table.add_column("device", no_wrap=True)
    for heading in ("stages", "largest difference", "seconds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        verdict = word(verdicts)
        table.add_row(
            Text(verdict, style=_STYLES[verdict]),
            Text(printable(run.language)),
            run.device,
            passed(verdicts),
            nearness(run),
            f"{run.seconds:.1f}",
        )
    return table


def _versions(run: ClientRun) -> str:
    """What a client runs with; a service may say none of it."""
    facts = []
    if run.versions:
        facts = [
            f"version {run.versions.language_version}",
            f"runtime {run.versions.runtime_version}",
            f"tokenizer {run.versions.tokenizer_version}",
        ]
    if run.provider:
        facts.append(run.provider.active)
    return f"{run.language} on {run.device}: {', '.join(facts)}" if facts else ""


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    """Yield each line below the table, with its style."""
    yield from ((line, "") for line in filter(None, map(_versions, report.runs)))
    for trouble in troubles(report.verdicts):
        first = trouble.first
        verdict = "FAIL" if first.status.failed else "SKIP"
        yield (
            (
                f"{verdict} {first.language} on {first.device}, "
                f"{trouble.place}: {first.status}: {first.message}"
            ),
            "",
        )
    measured = [(difference, run) for run in report.runs if (difference := largest(run))]
    if measured:
        worst, run = max(measured, key=lambda pair: pair[0].largest)
        case = f", case {worst.case}" if worst.case else ""
        yield (
            (
                f"largest difference from the golden vectors: {nearness(run)} "
                f"({run.language} on {run.device}{case}, stage {worst.stage})"
            ),
            "",
        )
    for device in dict.fromkeys(entry.device for entry in report.language_differences):
        between = max(
            (entry for entry in report.language_differences if entry.device == device),
            key=lambda entry: entry.difference,
        )
        yield (
            (
                f"largest difference between languages on {device}: {between.difference:.1e} "
                f"({' and '.join(between.languages)}, case {between.case}, row {between.row})"
            ),
            "",
        )
    yield summary(report), ""
    yield from ((f"note: {note}", "yellow") for note in report.notes)
    yield from ((f"MISSING {sentence}", _STYLES["FAIL"]) for sentence in report.missing)
