"""The files that a bake asks for, there or not: each may decide what is baked."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from polybake.base.files.atomic import replacing
from polybake.errors import InputError

#: Size, time and number of a file, which change with what it holds; none of a missing one.
Stamp = tuple[int, ...]

_ASKED: ContextVar[dict[Path, Stamp] | None] = ContextVar("asked", default=None)


def asked(path: Path) -> Path:
    """Note, and return, the path of a file that decides what is baked, also by not being there."""
    noted = _ASKED.get()
    if noted is not None and path not in noted:
        noted[path] = stamp(path)
    return path


@contextmanager
def noting_inputs() -> Iterator[dict[Path, Stamp]]:
    """Yield the paths given to `asked` within the block, each with its stamp at the first call."""
    noted: dict[Path, Stamp] = {}
    token = _ASKED.set(noted)
    try:
        yield noted
    finally:
        _ASKED.reset(token)


def stamp(path: Path) -> Stamp:
    """The stamp of a file; empty where none can be read."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


class Digests:
    """The SHA-256 of files; those of one size and time are hashed once."""

    def __init__(self, cache: Path | None = None) -> None:
        self._cache = cache
        self._known: dict[str, list[object]] = {}
        if cache is not None:
            with suppress(OSError, ValueError):  # it is made anew
                self._known = dict(json.loads((cache / "digests.json").read_text("utf-8")))

    def of(self, path: Path) -> str | None:
        """The digest of a file, or None where there is none."""
        try:
            if not path.is_file():
                return None
            state, key = [*stamp(path)], str(path.resolve())
            size_time, digest = self._known.get(key, [None, None])
            if size_time != state or not isinstance(digest, str):
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                self._known[key] = [state, digest]
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read ({error.strerror}); let it be readable"
            ) from error
        return digest

    def keep(self) -> None:
        """Write the cache, with a .gitignore of its own; where nothing can be written, none."""
        if self._cache is None:
            return
        with suppress(InputError, OSError):
            with replacing(self._cache / "digests.json") as file:
                file.write(json.dumps(self._known).encode())
            ignored = self._cache / ".gitignore"
            if not ignored.exists():
                ignored.write_text("*\n", encoding="utf-8")


def below(path: Path, folder: Path) -> str:
    """The path from a folder to a file, with slashes, so that it is the same on every machine."""
    try:
        return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    except ValueError:  # another drive of Windows
        return path.absolute().as_posix()
