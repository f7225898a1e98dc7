"""Kill the process of a cluster that is in the middle of a file."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Seconds until some worker has come as far, on a machine that has other work.
PATIENCE = 120


def kill_in_the_middle(folder: Path) -> Path:
    """Wait until a file below ``folder`` is begun and not whole, and kill who writes it.

    Returns:
        The folder of its parts.
    """
    for _ in range(PATIENCE * 100):
        for parts in folder.glob("*.parts"):
            if any(parts.glob("000000-*.parquet")) and (writer := next(_holders(parts), None)):
                os.kill(writer, signal.SIGKILL)
                return parts
        time.sleep(0.01)
    raise AssertionError(f"no worker began a file in {folder}")


def _holders(folder: Path) -> Iterator[int]:
    """The processes that have a folder open, as who writes parts has."""
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):  # it has ended, or is somebody else's
            for handle in (process / "fd").iterdir():
                with suppress(OSError):
                    if handle.readlink() == folder:
                        yield int(process.name)
                        break
