"""``polybake push``: the model file into the store, under its digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polybake.cli.target import DEFAULT_CONFIG

if TYPE_CHECKING:
    from polybake.lock import LockedFile
    from polybake.shipping.store import Advance, Store

    Move = Callable[[Path, LockedFile, Advance], bool]


def push(
    config: Annotated[
        Path, typer.Argument(metavar="[CONFIG]", help="A polybake.toml with the table store.")
    ] = DEFAULT_CONFIG,
) -> None:
    """Put the built model file into the store, unless it is there.

    Example: polybake push
    """
    for store, _, file, new in moved(config, "pushing", lambda store: store.push):
        state = "pushed" if new else "there already"
        typer.echo(f"{state}: {store.url}/{file.sha256}")


def moved(
    config: Path, doing: str, move_of: Callable[[Store], Move]
) -> Iterator[tuple[Store, Path, LockedFile, bool]]:
    """Move each file of the lock to or from the store; yield it, and whether it had to be moved."""
    from rich.console import Console

    from polybake.base.texts.progress import tracked
    from polybake.config import load_config
    from polybake.lock import needed_lock
    from polybake.shipping.store import Store, files_of

    settings = load_config(config)
    store = Store(settings)
    for path, file in files_of(settings, needed_lock(config.with_suffix(".lock"))).items():
        with tracked(f"{doing} {path.name}", file.bytes, Console(stderr=True)) as advance:
            new = move_of(store)(path, file, advance)
        yield store, path, file, new
