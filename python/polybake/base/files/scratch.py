"""Temporary folders that no run leaves behind, however it ends."""

import atexit
import shutil
import tempfile

_FOLDERS: set[str] = set()


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary folder; if a signal interrupts its removal, it is removed at process end."""

    def __init__(self) -> None:
        super().__init__(prefix="polybake-")
        _FOLDERS.add(self.name)

    def cleanup(self) -> None:
        """Remove the folder."""
        super().cleanup()
        _FOLDERS.discard(self.name)


@atexit.register
def _remove_left() -> None:
    for name in _FOLDERS:
        shutil.rmtree(name, ignore_errors=True)
