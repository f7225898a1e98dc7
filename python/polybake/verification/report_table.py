"""The report for a terminal: a row per language and device, then all that went wrong."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.files.printable import printable
from polybake.verification.report import ClientRun, Report
from polybake.verification.report_lines import largest_of, report_lines
from polybake.verification.verdict import CASE_STAGES, Stage, Status, Verdict

_STAGES = (*CASE_STAGES, Stage.SELF_CHECK)
_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print the table, the skips and failures, and the largest differences seen."""
    console.print(_table(report))
    console.print()
    for line in report_lines(report):
        console.print(Text(printable(line)), soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("client")
    table.add_column("device")
    for stage in _STAGES:
        table.add_column(stage.replace("_", "\n"), justify="right", no_wrap=True)
    table.add_column("largest\ndifference", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        word = _word(verdicts)
        table.add_row(
            Text(word, style=_STYLES[word]),
            _cell(_client(run)),
            _cell(_device(run)),
            *(_passed(verdicts, stage) for stage in _STAGES),
            _largest(verdicts),
            f"{run.seconds:.1f}",
        )
    return table


def _word(verdicts: tuple[Verdict, ...]) -> str:
    if any(verdict.status.failed for verdict in verdicts):
        return "FAIL"
    return "SKIP" if any(verdict.status.skipped for verdict in verdicts) else "PASS"


def _cell(lines: list[str]) -> Text:
    return Text("\n".join(printable(line) for line in lines), overflow="fold")


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


def _largest(verdicts: tuple[Verdict, ...]) -> str:
    worst = largest_of(verdicts)
    return "" if worst is None else f"{worst.difference:.1e}"
