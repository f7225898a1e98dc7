"""Temporary folders that no run leaves behind, however it ends."""

import atexit
import shutil
import sys
import tempfile
import weakref
from pathlib import Path
from secrets import token_hex

_FOLDERS: set[str] = set()


class Scratch:
    """A temporary folder; what a signal keeps from its removal is removed at process end."""

    def __init__(self) -> None:
        #: The folder's path; known before it is there, as a signal may end the process just then.
        self.name = str(Path(tempfile.gettempdir(), f"polybake-{token_hex(8)}"))
        _FOLDERS.add(self.name)
        self._removal = weakref.finalize(self, _remove, self.name)
        Path(self.name).mkdir(0o700)

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, *_: object) -> None:
        self._removal()


def show_in(place: Path, file: Path) -> None:
    """Show a file in such a folder: by a link, or by a copy where Windows allows no links."""
    try:
        place.symlink_to(file.resolve())
    except OSError:
        if sys.platform != "win32":
            raise
        shutil.copyfile(file, place)


def _remove(name: str) -> None:
    shutil.rmtree(name, ignore_errors=True)
    _FOLDERS.discard(name)


@atexit.register
def _remove_left() -> None:
    for name in list(_FOLDERS):
        _remove(name)
