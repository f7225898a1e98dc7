"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from polybake.errors import InputError


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` that takes its place when the block succeeds.

    Raises:
        InputError: the folder cannot be written to, has no room, or has a folder of that name.
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
