"""``polybake generate``: clients for a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.commands.target import DEFAULT_CONFIG, ConfigOrModel, manifest_of
from polybake.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from polybake.config import ClientTable
    from polybake.generation import RenderedClient
    from polybake.modelfile.manifest import Manifest


def generate(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="Put each client in a folder of its language below this.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language; may be given more than once.")
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="A folder whose templates take the shipped ones' place.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that were changed by hand.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not fresh.")
    ] = False,
) -> None:
    """Write thin clients for Python, Node, Ruby and C#.

    Example: polybake generate build/minilm.onnx --language ruby
    """
    manifest = manifest_of(target)
    tables = client_tables(target, clients, language)
    if check:
        check_clients(manifest, tables, templates)
    else:
        for line in write_clients(manifest, tables, templates, force=force):
            typer.echo(line)


def client_tables(
    target: Path, clients: Path | None, languages: list[str] | None
) -> dict[str, ClientTable]:
    """The settings of each client to generate, all of them with an output folder.

    Raises:
        InputError: a language that has no client.
    """
    from polybake.config import ClientTable, load_config
    from polybake.generation import LANGUAGES

    if target.suffix == ".toml":
        tables: dict[str, ClientTable] = {
            str(name): table for name, table in load_config(target).clients.items()
        }
    else:
        tables = {name: ClientTable(output=Path("clients") / name) for name in LANGUAGES}
    for name in languages or []:
        if name not in tables:
            raise InputError(f"--language {name}: choose one of: {', '.join(tables)}")
    chosen = {name: table for name, table in tables.items() if not languages or name in languages}
    if clients is None:
        return chosen
    return {
        name: table.model_copy(update={"output": clients / name}) for name, table in chosen.items()
    }


def write_clients(
    manifest: Manifest, tables: dict[str, ClientTable], templates: Path | None, *, force: bool
) -> list[str]:
    """Write every client; a line each says what changed."""
    from polybake.generation.write import write_client

    lines = []
    for folder, client in _rendered(manifest, tables, templates):
        done = write_client(folder, client.files, client.project_files, force=force)
        lines.append(
            f"{folder}: {len(done.written)} written, {len(done.unchanged)} unchanged, "
            f"{len(done.removed)} removed"
        )
    return lines


def check_clients(
    manifest: Manifest, tables: dict[str, ClientTable], templates: Path | None = None
) -> None:
    """Compare every client with a fresh render.

    Raises:
        CheckFailed: a generated file differs, is missing, or is left over.
    """
    from polybake.generation.write import stale_files

    stale = [
        str(folder / path)
        for folder, client in _rendered(manifest, tables, templates)
        for path in stale_files(folder, client.files, client.project_files)
    ]
    if stale:
        raise CheckFailed(f"not fresh: {', '.join(stale)}; run: polybake generate")
    typer.echo(f"fresh: {', '.join(tables)}")


def _rendered(
    manifest: Manifest, tables: dict[str, ClientTable], templates: Path | None
) -> list[tuple[Path, RenderedClient]]:
    """Every client with its folder; all are rendered before the first is written."""
    from polybake.generation import render_client

    return [
        (
            table.output or Path("clients") / language,
            render_client(
                manifest,
                language,
                package=table.package,
                module=table.module,
                version=table.version,
                templates=templates,
            ),
        )
        for language, table in tables.items()
    ]
