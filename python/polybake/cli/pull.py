"""``polybake pull``: the model file that polybake.lock names, from the store."""

from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG


def pull(
    config: Annotated[
        Path, typer.Argument(metavar="[CONFIG]", help="A polybake.toml with the table store.")
    ] = DEFAULT_CONFIG,
) -> None:
    """Bring the model file that polybake.lock names, whole and verified, unless it is here.

    Example: polybake pull
    """
    from rich.console import Console

    from polybake.base.texts.progress import tracked
    from polybake.config import load_config
    from polybake.lock import needed_lock
    from polybake.shipping.store import Store, files_of

    settings = load_config(config)
    store = Store(settings)
    for path, file in files_of(settings, needed_lock(config.with_suffix(".lock"))).items():
        with tracked(f"pulling {path.name}", file.bytes, Console(stderr=True)) as advance:
            brought = store.pull(path, file, advance)
        typer.echo(f"{'pulled' if brought else 'here already'}: {path}, SHA-256 {file.sha256}")
