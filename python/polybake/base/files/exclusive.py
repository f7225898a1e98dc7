"""A folder in which only one process works at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polybake.errors import InputError

if sys.platform != "win32":  # which opens no folder: two processes are not kept apart there
    import fcntl


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Make a folder and lock it against other processes; the lock ends with the process."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be made ({error.strerror}); choose another place"
        ) from error
    try:
        if held is not None:
            _lock(held, folder)
        yield
    finally:
        if held is not None:
            os.close(held)


def _lock(held: int, folder: Path) -> None:
    try:
        if sys.platform != "win32":
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(
            f"{folder}: another process works in it; wait for its end, or choose another place"
        ) from error
