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
        handle = None if sys.platform == "win32" else os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be made ({error.strerror}); choose another place"
        ) from error
    try:
        if handle is not None:
            _lock(handle, folder)
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InputError(
            f"{folder}: another process works in it; wait for its end, or choose another place"
        ) from error
