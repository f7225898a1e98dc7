"""The report for a terminal: a row per language and device, then all that went wrong."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from polybake.files.printable import printable
from polybake.verification.report import ClientRun, Report
from polybake.verification.verdict import ALL_STAGES, CASE_STAGES, Stage, Status, Verdict

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def print_report(report: Report, console: Console) -> None:
    """Print the table, the skips and failures, and the largest differences seen."""
    console.print(_table(report))
    console.print()
    for line in _lines(report):
        console.print(Text(printable(line)), soft_wrap=True)


def _table(report: Report) -> Table:
    called = any(verdict.stage is Stage.CALL for verdict in report.verdicts)
    stages = (*(ALL_STAGES if called else CASE_STAGES), Stage.SELF_CHECK)
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("client")
    table.add_column("device")
    for heading in (*(stage.replace("_", "\n") for stage in stages), "largest\ndifference"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    for run in report.runs:
        verdicts = report.verdicts_of(run)
        word, worst = _word(verdicts), _largest(verdicts)
        table.add_row(
            Text(word, style=_STYLES[word]),
            _cell(_client(run)),
            _cell(_device(run)),
            *(_passed(verdicts, stage) for stage in stages),
            "" if worst is None else f"{worst.difference:.1e}",
            f"{run.seconds:.1f}",
        )
    return table


def _word(verdicts: tuple[Verdict, ...]) -> str:
    if any(verdict.status.failed for verdict in verdicts):
        return "FAIL"
    return "SKIP" if any(verdict.status.skipped for verdict in verdicts) else "PASS"


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


def _largest(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The verdict on a case with the largest difference; None where none has one."""
    measured = (v for v in verdicts if v.stage in ALL_STAGES and v.difference is not None)
    return max(measured, key=lambda verdict: verdict.difference or 0.0, default=None)


def _lines(report: Report) -> Iterator[str]:
    """One line for each distinct skip and failure, each largest difference, each note."""
    yield from _troubles(report)
    worst = _largest(report.verdicts)
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
    yield _summary(report)


def _troubles(report: Report) -> Iterator[str]:
    """Verdicts of one client that share status and message share a line."""
    groups: dict[tuple[str, str, str, str], list[Verdict]] = {}
    for verdict in report.verdicts:
        if verdict.status is not Status.PASS:
            key = (verdict.language, verdict.device, verdict.status, verdict.message)
            groups.setdefault(key, []).append(verdict)
    for (language, device, status, message), (first, *rest) in groups.items():
        word = "FAIL" if first.status.failed else "SKIP"
        more = f" and {len(rest)} more" if rest else ""
        yield (
            f"{word} {language} on {device}, case {first.case}, stage {first.stage}{more}: "
            f"{status}: {message}"
        )


def _summary(report: Report) -> str:
    if not report.executed:
        return "nothing was verified: no client ran a single case"
    stages = len({v.stage for v in report.verdicts} & {*ALL_STAGES})
    return (
        f"{report.executed} of {report.asked} stages executed "
        f"({len(report.runs)} runs x {report.cases} cases x {stages} stages), "
        f"failures: {len(report.failures)}"
    )
