"""Files and folders that are written whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from polybake.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block succeeds.

    Raises:
        InputError: The folder cannot be written to, is full, or has a folder of that name.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        except BaseException:
            temporary.unlink()
            raise
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); choose another place"
        ) from error


@contextmanager
def restoring(path: Path) -> Iterator[None]:
    """Leave ``path`` as it was when the block fails, with its content or missing.

    Raises:
        InputError: The folder cannot be written to.
    """
    kept = path.with_name(f".{path.name}.kept")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept.unlink(missing_ok=True)
        if path.exists():
            os.link(path, kept)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be kept while another is written ({error.strerror or error}); "
            "choose another place"
        ) from error
    try:
        yield
    except BaseException:
        if kept.exists():
            kept.replace(path)
        else:
            path.unlink(missing_ok=True)
        raise
    finally:
        kept.unlink(missing_ok=True)  # still there where both are one file


@contextmanager
def creating(folder: Path) -> Iterator[Path]:
    """Open a temporary folder that is renamed to ``folder`` when the block succeeds.

    Raises:
        InputError: The name exists already, or the folder cannot be written.
    """
    if folder.exists():
        raise InputError(f"{folder}: exists already; remove it, or choose another place")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            temporary.rename(folder)
        except BaseException:
            shutil.rmtree(temporary)
            raise
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); choose another place"
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
