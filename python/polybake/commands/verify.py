"""``polybake verify``: does every client give the same vectors?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import DEFAULT_CONFIG, ConfigOrModel

if TYPE_CHECKING:
    from polybake.verification.judge import Progress


def verify(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="The folder that holds the clients' folders.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language, which may then not be skipped.")
    ] = None,
    harness: Annotated[
        list[str] | None, typer.Option(help="A foreign client's command that speaks the protocol.")
    ] = None,
    fixture: Annotated[
        Path | None, typer.Option(help="A folder with cases.json; else the file's own cases.")
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
        typer.Option(metavar="SECONDS", help="For each answer; twice as long for a whole file."),
    ] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML to this file.")] = None,
) -> None:
    """Compare every client with the golden cases: ids exactly, then every element of every vector.

    Example: polybake verify build/minilm.onnx --clients clients --prepare
    """
    from rich.console import Console

    from polybake.config import VerifyTable, load_config
    from polybake.files.atomic import replacing
    from polybake.verification.report_json import report_json
    from polybake.verification.report_junit import report_junit
    from polybake.verification.report_table import print_report
    from polybake.verification.verify import verify as run

    config = load_config(target) if target.suffix == ".toml" else None
    settings = config.verify if config else VerifyTable()
    tables = config.clients.values() if config else ()
    own_clients = [table.output for table in tables if table.output] or None
    own = config.fixtures_folder if config else None
    with shown(quiet=as_json) as progress:
        report = run(
            config.model.output if config else target,
            clients or own_clients,
            languages=language or (),
            harnesses=[*(harness or ()), *settings.harnesses],
            devices=device or settings.devices,
            fixture=fixture or (own if own and own.is_dir() else None),
            require=[*(require or ()), *settings.require],
            prepare=prepare,
            timeout=timeout,
            progress=progress,
        )
    if junit is not None:
        with replacing(junit) as file:
            file.write(report_junit(report))
    if as_json:
        typer.echo(report_json(report), nl=False)
    else:
        print_report(report, Console())
    raise typer.Exit(report.exit_code())


@contextmanager
def shown(*, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Show on standard error how far the run is, and each failure as it happens.

    A terminal has a bar; elsewhere a line says which client begins, unless ``quiet``.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import Progress as Bar

    from polybake.files.printable import printable

    console = Console(stderr=True)
    with Bar(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def tell(progress: Progress) -> None:
            verdict = progress.verdict
            place = printable(f"{progress.language} on {progress.device}")
            done, total = progress.done, progress.total
            now = verdict is None  # however soon the next client begins
            bar.update(task, description=escape(place), completed=done, total=total, refresh=now)
            if verdict and verdict.status.failed:
                place += printable(f" {verdict.case} {verdict.stage}: {verdict.status}")
            elif verdict or console.is_terminal:
                return
            if not quiet:
                console.print(place, markup=False, highlight=False, soft_wrap=True)

        yield tell
