"""``polybake generate``: clients for a model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG, ConfigOrModel

if TYPE_CHECKING:
    from polybake.generation.generate import ClientSettings
    from polybake.generation.write import Changes


def generate(
    target: ConfigOrModel = DEFAULT_CONFIG,
    clients: Annotated[
        Path | None, typer.Option(help="Put each client in a folder of its language below this.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language; may be given more than once.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Have this part, bulk or cuda, in place of those set; may be repeated."),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="A folder whose templates take the shipped ones' place.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that were changed by hand.")
    ] = False,
    keep_edited: Annotated[
        bool,
        typer.Option(
            "--keep-edited", help="Leave files that you changed as they are, in any case."
        ),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not fresh.")
    ] = False,
) -> None:
    """Write thin clients, for Python, Node, Ruby and C# or the languages that are named.

    Example: polybake generate build/minilm.onnx --language ruby
    """
    from polybake.generation.generate import generate as run

    changes = run(
        model_of(target),
        clients_of(target, clients),
        languages=language or (),
        parts=part or (),
        templates=templates,
        force=force,
        keep=keep_edited,
        check=check,
    )
    typer.echo(fresh(changes) if check else written(changes))


def model_of(target: Path) -> Path:
    """Return the model file that a polybake.toml names, or the given model file."""
    from polybake.config import load_config

    return load_config(target).model.output if target.suffix == ".toml" else target


def clients_of(target: Path, folder: Path | None) -> Path | dict[str, ClientSettings]:
    """The clients that a polybake.toml describes, or the folder of every language's."""
    from polybake.config import load_config
    from polybake.generation.generate import ClientSettings

    default = Path("clients")
    if target.suffix != ".toml":
        return folder or default
    return {
        language: ClientSettings(
            folder / language if folder else table.output or default / language,
            table.package,
            table.module,
            table.version,
            table.parts,
        )
        for language, table in load_config(target).clients.items()
    }


def written(clients: Mapping[str, Changes]) -> str:
    """Return what was written, in a line per client."""
    return "\n".join(
        f"{client.folder}: {len(client.written)} written, {len(client.unchanged)} unchanged, "
        f"{len(client.removed)} removed{_edited(client)}"
        for client in clients.values()
    )


def fresh(clients: Mapping[str, Changes]) -> str:
    """Return which clients are fresh, and what of them was edited."""
    names = (f"{language}{_edited(client)}" for language, client in clients.items())
    return f"fresh: {', '.join(names)}"


def _edited(client: Changes) -> str:
    return f" (edited by you: {', '.join(client.edited)})" if client.edited else ""
