"""``polybake verify``: does every client give the same vectors?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polybake.cli.target import DEFAULT_CONFIG, ConfigOrModel

if TYPE_CHECKING:
    from polybake.config import VerifyTable
    from polybake.verification.judge import Progress
    from polybake.verification.report import Report


def verify(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="The folder that holds the clients' folders.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language, which may then not be skipped.")
    ] = None,
    harness: Annotated[
        list[str] | None,
        typer.Option(help="A foreign client's command, or the address of a service."),
    ] = None,
    fixture: Annotated[
        Path | None,
        typer.Option(help="A folder with cases.json; else the config's, or the file's own cases."),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(metavar="N", help="N random calls, judged by the core, in the cases' place."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="The seed of --random; the same seed gives the same calls.")
    ] = None,
    device: Annotated[list[str] | None, typer.Option(help="cpu or cuda; may be repeated.")] = None,
    require: Annotated[
        list[str] | None, typer.Option(help="A language or device that must not be skipped.")
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="First install each client's packages.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="For each answer; twice as long for start, many texts and self-check.",
        ),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Also write a page to this file.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Also write a pull request's comment to this file.")
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Annotate a run of GitHub Actions.")
    ] = False,
) -> None:
    """Compare every client with the golden cases: ids exactly, then every element of every vector.

    Example: polybake verify build/minilm.onnx --clients clients --prepare
    """
    from rich.console import Console

    from polybake.cli.reports import Reports
    from polybake.config import VerifyTable, load_config
    from polybake.verification.reporting.report_github import report_github
    from polybake.verification.reporting.report_json import report_json
    from polybake.verification.reporting.report_table import print_report
    from polybake.verification.verify import verify as verify_cases

    config = load_config(target) if target.suffix == ".toml" else None
    settings = config.verify if config else VerifyTable()
    own_clients = config.client_folders if config else None
    own = config.golden_folder if config else None
    model = config.model.output if config else target
    reports = Reports(junit, html, markdown)
    reports.check(model)
    judge: Callable[..., Report]
    if random is None and seed is None:
        judge = partial(verify_cases, fixture=fixture or own)
    else:
        judge = _random(random, seed, fixture)
    with shown(quiet=as_json) as progress:
        report = judge(
            model,
            clients or own_clients,
            languages=language or (),
            harnesses=[*(harness or ()), *settings.harnesses],
            devices=device or settings.devices,
            require=[*(require or ()), *_required(settings, language or ())],
            prepare=prepare,
            timeout=timeout,
            progress=progress,
        )
    report = replace(report, notes=(*report.notes, *_next_steps(report, model)))
    if as_json:
        typer.echo(report_json(report), nl=False)
    else:
        print_report(report, Console())
    if github:  # the runner reads both streams, and a program that reads JSON only one
        typer.echo(report_github(report, target if config else None), nl=False, err=True)
    reports.write(report)
    raise typer.Exit(report.exit_code())


def _required(settings: VerifyTable, languages: Sequence[str]) -> list[str]:
    """What polybake.toml requires, without the languages that --language leaves out."""
    from polybake.base.modelfile.fixture import DEVICES

    names = {*DEVICES, *languages}
    return [name for name in settings.require if not languages or name in names]


def _next_steps(report: Report, model: Path) -> Iterator[str]:
    """Yield, for each service whose vectors differ, the command that explains why."""
    from polybake.verification.harness.services.address import is_address
    from polybake.verification.verdict import Stage, Status

    for run in report.runs:
        verdicts = (verdict for verdict in report.verdicts_of(run) if verdict.stage is Stage.EMBED)
        if is_address(run.language) and any(verdict.status is Status.FAIL for verdict in verdicts):
            command = ["polybake", "diagnose", str(model), "--harness", run.language]
            yield f"why they differ: {shlex.join(command)}"


def _random(number: int | None, seed: int | None, fixture: Path | None) -> Callable[..., Report]:
    """Return a function that judges random cases instead of a fixture's."""
    from polybake.errors import InputError
    from polybake.study.random.verify_random import new_seed, verify_random

    if number is None:
        raise InputError(f"--seed {seed} is of random cases; give --random N, too")
    if fixture is not None:
        raise InputError(f"--random makes cases of its own; leave --fixture {fixture} out")
    case_seed = new_seed() if seed is None else seed
    again = ["polybake", *sys.argv[1:], *(["--seed", str(case_seed)] if seed is None else [])]

    def judge(*arguments: Any, **options: Any) -> Report:
        report = verify_random(*arguments, number=number, seed=case_seed, **options)
        return replace(report, notes=(*report.notes, f"repeat with: {shlex.join(again)}"))

    return judge


@contextmanager
def shown(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Show progress on standard error, and each failure as it happens.

    On a terminal there is a bar; elsewhere a line says which client begins, unless ``quiet``.
    Consecutive equal failures, as of a client that does not start, share a line.
    """
    from rich.console import Console
    from rich.markup import escape

    from polybake.base.files.printable import printable
    from polybake.base.texts.progress import bar_on

    console = Console(stderr=True)
    with bar_on(console, transient=True) as bar:
        task = bar.add_task("")
        reason: str | None = None

        def tell(progress: Progress) -> None:
            nonlocal reason
            verdict = progress.verdict
            line = printable(f"{progress.language} on {progress.device}")
            done, total = progress.done, progress.total
            now = verdict is None  # however soon the next client begins
            bar.update(task, description=escape(line), completed=done, total=total, refresh=now)
            before, reason = reason, verdict.message if verdict and verdict.status.failed else None
            if verdict and verdict.status.failed and reason != before:
                line += printable(f" {verdict.case} {verdict.stage}: {verdict.status}")
            elif verdict or console.is_terminal:
                return
            if not quiet:
                console.print(line, markup=False, highlight=False, soft_wrap=True)

        yield tell
