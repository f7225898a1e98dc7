"""Whether reading something imports, compiles or starts anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Audit events of code that runs because of what is read. Source: Python's audit events table.
_EVENTS = {
    *("import", "compile", "exec", "marshal.loads", "pickle.find_class", "ctypes.dlopen"),
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect"),
    *("os.mkdir", "os.remove", "os.rename", "shutil.rmtree"),
}

_seen: list[str] | None = None


def _hook(event: str, _: object) -> None:
    if _seen is not None and event in _EVENTS:
        _seen.append(event)


sys.addaudithook(_hook)  # there is no way to remove one


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Fail if one of the events happens within."""
    global _seen
    _seen, before = [], {*sys.modules}
    try:
        yield
        assert _seen == []
        assert {*sys.modules} == before
    finally:
        _seen = None


class Trap:
    """Makes a folder as soon as something creates it, or sets its state."""

    def __new__(cls, place: str | None = None) -> Trap:
        if place is not None:
            os.mkdir(place)  # noqa: PTH102 - as the other traps
        return super().__new__(cls)

    def __setstate__(self, place: str) -> None:
        os.mkdir(place)  # noqa: PTH102
