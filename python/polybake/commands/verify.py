"""``polybake verify``: does every client give the same vectors?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.generate import client_tables
from polybake.commands.target import DEFAULT_CONFIG, ConfigOrModel
from polybake.errors import InputError

if TYPE_CHECKING:
    from polybake.config import Config
    from polybake.modelfile.fixture import Fixture
    from polybake.verification.harness_file import Client
    from polybake.verification.protocol import Device
    from polybake.verification.report import Report
    from polybake.verification.verdict import Verdict


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit XML to this file.")] = None,
) -> None:
    """Compare every client with the golden cases: ids exactly, then every element of every vector.

    Example: polybake verify build/minilm.onnx --clients clients --prepare
    """
    from polybake.config import VerifyTable, load_config
    from polybake.files.atomic import replacing
    from polybake.modelfile.container import read_head
    from polybake.verification.report_junit import report_junit
    from polybake.verification.required import required_names
    from polybake.verification.verify import verify as run

    config: Config | None = load_config(target) if target.suffix == ".toml" else None
    settings = config.verify if config else VerifyTable()
    model = config.model.output if config else target
    head = read_head(model)
    chosen = clients_for(target, clients, language, [*(harness or []), *settings.harnesses])
    report = run(
        model,
        chosen,
        fixture_for(config, fixture) or head.fixture,
        devices=devices_for(device or list(settings.devices)),
        prepare=prepare,
        required=required_names([*(require or []), *(language or []), *settings.require], chosen),
        progress=None if as_json else announce,
    )
    if junit is not None:
        with replacing(junit) as file:
            file.write(report_junit(report))
    print_report(report, as_json=as_json)
    raise typer.Exit(report.exit_code())


def clients_for(
    target: Path, folder: Path | None, languages: list[str] | None, harnesses: list[str]
) -> list[Client]:
    """The clients to verify: generated ones, and foreign ones by their command.

    Raises:
        InputError: a language that has no client here.
    """
    from polybake.verification.harness_file import find_clients, foreign_client, read_client

    if folder is None and target.suffix == ".toml":
        tables = client_tables(target, None, None)
        found = [read_client(table.output) for table in tables.values() if table.output]
    elif folder is None and harnesses and not languages:
        found = []
    else:
        found = list(find_clients(folder or Path("clients")))
    known = [client.language for client in found]
    for name in languages or []:
        if name not in known:
            raise InputError(f"--language {name}: no client of it here; choose among: {known}")
    generated = [client for client in found if not languages or client.language in languages]
    return generated + [foreign_client(command) for command in harnesses]


def devices_for(names: list[str]) -> list[Device]:
    """The names as devices.

    Raises:
        InputError: one is neither cpu nor cuda.
    """
    from polybake.verification.protocol import DEVICES

    for name in names:
        if name not in DEVICES:
            raise InputError(f"--device {name}: choose among: {', '.join(DEVICES)}")
    return [device for device in DEVICES if device in names]


def fixture_for(config: Config | None, folder: Path | None) -> Fixture | None:
    """The fixture named, or the config's where it has been written."""
    from polybake.modelfile.fixture_folder import read_fixture

    if folder is None and config and config.fixtures_folder.is_dir():
        folder = config.fixtures_folder
    return read_fixture(folder) if folder is not None else None


def announce(verdict: Verdict) -> None:
    """Tell each failure as it happens; the table comes at the end."""
    from polybake.files.printable import printable

    if verdict.status.failed:
        place = f"{verdict.language} {verdict.device} {verdict.case} {verdict.stage}"
        typer.echo(f"{printable(place)}: {verdict.status}", err=True)


def print_report(report: Report, *, as_json: bool) -> None:
    """Print the report as a table, or as JSON."""
    from rich.console import Console

    from polybake.verification import report_table
    from polybake.verification.report_json import report_json

    if as_json:
        typer.echo(report_json(report))
    else:
        report_table.print_report(report, Console())
