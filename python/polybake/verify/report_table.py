"""The report for a terminal: a row per language and device, then all that went wrong."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.verify.printable import printable
from polybake.verify.report import Report
from polybake.verify.verdict import CASE_STAGES, Stage

_STAGES = (*CASE_STAGES, Stage.SELF_CHECK)
_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print the table, the skips and failures, and the largest differences seen."""
    console.print(_table(report))
    for line in _lines(report):
        console.print(Text(printable(line)), soft_wrap=True)


def _table(report: Report) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("client", overflow="fold")
    table.add_column("device", overflow="fold")
    for stage in _STAGES:
        table.add_column(stage.replace("_", "\n"), justify="right", vertical="bottom")
    table.add_column("largest\ndifference", justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        word = _word(verdicts)
        table.add_row(
            Text(word, style=_STYLES[word], no_wrap=True),
            Text(printable(_client(run)), overflow="fold"),
            Text(printable(_device(run)), overflow="fold"),
            *(_passed(verdicts, stage) for stage in _STAGES),
            _largest(verdicts),
            f"{run.seconds:.1f}",
        )
    return table
