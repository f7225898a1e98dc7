"""Files and folders that are written whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from polybake.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block succeeds."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Its name is known before it is there: a signal may end the process as it is made.
        temporary = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
        try:
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another place"
        ) from error


@contextmanager
def creating(folder: Path) -> Iterator[Path]:
    """Open a temporary folder that is renamed to ``folder`` when the block succeeds."""
    if folder.exists():
        raise InputError(f"{folder}: exists already; remove it, or choose another place")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = folder.with_name(f".{folder.name}.{token_hex(8)}")
        try:
            temporary.mkdir()
            yield temporary
            temporary.rename(folder)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); choose another place"
        ) from error
