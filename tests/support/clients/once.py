"""What takes long to build is built once, for all processes of a run.

POLYBAKE_CLIENTS names a folder that outlives the run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def once_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it lies: in a folder of the whole run, also where several processes share it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return Path(os.environ.get("POLYBAKE_CLIENTS", shared / "clients")).resolve()


def once(folder: Path, build: Callable[[Path], None], *parts: str) -> Path:
    """The folder that ``build`` fills, the first time that one of these parts is asked for."""
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    place, done = folder / name, folder / f"{name}.done"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / f"{name}.lock"):
        if not done.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            build(place)
            done.touch()
    return place


def digest(*folders: Path) -> str:
    """A digest of the names and the bytes of all files of folders, but for compiled ones."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                found.update(f"{path.relative_to(folder)}\0{content}\0".encode())
    return found.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:
                with suppress(OSError):  # it gives up after ten seconds
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
