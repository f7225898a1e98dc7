"""The report for a terminal: a row per language and device, then all that went wrong."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.base.files.printable import printable
from polybake.verification.report import ClientRun, Report
from polybake.verification.reporting.summary import largest, summary, troubles, word
from polybake.verification.verdict import ALL_STAGES, CASE_STAGES, Stage, Status, Verdict

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print the table, the skips and failures, and the largest differences seen."""
    console.print(_table(report))
    console.print()
    for line in _lines(report):
        console.print(Text(printable(line)), soft_wrap=True)


def _table(report: Report) -> Table:
    seen = {verdict.stage for verdict in report.verdicts}
    shown = (stage for stage in ALL_STAGES if stage in CASE_STAGES or stage in seen)
    stages = (*shown, Stage.SELF_CHECK)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("client")
    table.add_column("device")
    for heading in (*(stage.replace("_", "\n") for stage in stages), "largest\ndifference"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        verdict, worst = word(verdicts), largest(verdicts)
        table.add_row(
            Text(verdict, style=_STYLES[verdict]),
            _cell(_client(run)),
            _cell(_device(run)),
            *(_passed(verdicts, stage) for stage in stages),
            "" if worst is None else f"{worst.difference:.1e}",
            f"{run.seconds:.1f}",
        )
    return table


def _cell(lines: list[str]) -> Text:
    return Text("\n".join(map(printable, lines)), overflow="fold")


def _client(run: ClientRun) -> list[str]:
    if run.versions is None:
        return [run.language]
    return [
        f"{run.language} {run.versions.language_version}",
        f"runtime {run.versions.runtime_version}",
        f"tokenizer {run.versions.tokenizer_version}",
    ]


def _device(run: ClientRun) -> list[str]:
    """The device and, below it, the active provider without the suffix that all share."""
    if run.provider is None:
        return [run.device]
    return [run.device, run.provider.active.removesuffix("ExecutionProvider")]


def _passed(verdicts: tuple[Verdict, ...], stage: Stage) -> str:
    mine = [verdict for verdict in verdicts if verdict.stage is stage]
    return f"{sum(verdict.status is Status.PASS for verdict in mine)}/{len(mine)}"


def _lines(report: Report) -> Iterator[str]:
    """Yield a line for each distinct skip and failure, each largest difference, and each note."""
    for trouble in troubles(report.verdicts):
        first = trouble.first
        yield (
            f"{'FAIL' if first.status.failed else 'SKIP'} {first.language} on {first.device}, "
            f"{trouble.place}: {first.status}: {first.message}"
        )
    worst = largest(report.verdicts)
    if worst:
        yield (
            f"largest difference from the golden vectors: {worst.difference:.1e} "
            f"({worst.language} on {worst.device}, case {worst.case}, stage {worst.stage})"
        )
    for device in dict.fromkeys(one.device for one in report.language_differences):
        between = max(
            (one for one in report.language_differences if one.device == device),
            key=lambda one: one.difference,
        )
        yield (
            f"largest difference between languages on {device}: {between.difference:.1e} "
            f"({' and '.join(between.languages)}, case {between.case}, row {between.row})"
        )
    yield from (f"note: {note}" for note in report.notes)
    yield from (f"MISSING {sentence}" for sentence in report.missing)
    yield summary(report)
