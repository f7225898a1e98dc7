"""``polybake pull``: the model file that polybake.lock names, from the store."""

from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.push import moved
from polybake.cli.target import DEFAULT_CONFIG


def pull(
    config: Annotated[
        Path, typer.Argument(metavar="[CONFIG]", help="A polybake.toml with the table store.")
    ] = DEFAULT_CONFIG,
) -> None:
    """Bring the model file that polybake.lock names, whole and verified, unless it is here.

    Example: polybake pull
    """
    for _, path, file, new in moved(config, "pulling", lambda store: store.pull):
        typer.echo(f"{'pulled' if new else 'here already'}: {path}, SHA-256 {file.sha256}")
