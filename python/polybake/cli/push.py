"""``polybake push``: the model file into the store, under its digest."""

from pathlib import Path
from typing import Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG


def push(
    config: Annotated[
        Path, typer.Argument(metavar="[CONFIG]", help="A polybake.toml with the table store.")
    ] = DEFAULT_CONFIG,
) -> None:
    """Put the built model file into the store, unless it is there.

    Example: polybake push
    """
    from rich.console import Console

    from polybake.base.texts.progress import tracked
    from polybake.config import load_config
    from polybake.lock import needed_lock
    from polybake.shipping.store import Store, files_of, key_of

    settings = load_config(config)
    store = Store(settings)
    for path, file in files_of(settings, needed_lock(config.with_suffix(".lock"))).items():
        with tracked(f"pushing {path.name}", file.bytes, Console(stderr=True)) as advance:
            written = store.push(path, file, advance)
        typer.echo(f"{'pushed' if written else 'there already'}: {store.url}/{key_of(file)}")
