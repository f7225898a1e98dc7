"""A client's commands as processes that lead a group of their own, without a shell."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from polybake.verification.harness.harness_file import Client
from polybake.verification.verdict import HarnessError, Status

_LAST_LINES = 3
_LAST_BYTES = 8192


def spawn(
    client: Client,
    argv: Sequence[str],
    *,
    stdin: int,
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
) -> subprocess.Popen[bytes]:
    """Start a command of the client in its folder, with its environment."""
    try:
        return subprocess.Popen(  # noqa: S603 - harness.json is the user's own
            [_program(client, argv[0]), *argv[1:]],
            cwd=client.folder,
            env=client.full_environment(),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        message = f"{argv[0]} cannot be started: {error.strerror}"
        raise HarnessError(Status.CRASH, message) from error


def _program(client: Client, name: str) -> str:
    """Return a program's name in a form that the system can start."""
    if sys.platform == "win32":
        # On Windows npm is npm.cmd, and paths are relative to polybake's folder, not to ``cwd``.
        path = client.full_environment().get("PATH")
        return shutil.which(client.folder / name if "/" in name else name, path=path) or name
    return name


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started."""
    if sys.platform == "win32":
        # A process has no group there; this program of the system asks who started whom.
        program = Path(os.environ["SYSTEMROOT"], "System32", "taskkill.exe")
        words = [str(program), "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(words, capture_output=True, check=False)  # noqa: S603
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def last_lines(output: IO[bytes]) -> str:
    """Return the last lines of a process's output as one line, only lines with errors if any.

    Some runtimes print a stack or a version last, far below the reason.
    """
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _LAST_BYTES))
    lines = output.read().decode("utf-8", "replace").splitlines()
    filled = [line.strip() for line in lines if line.strip()]
    telling = [line for line in filled if "error" in line.lower() or "exception" in line.lower()]
    return " | ".join((telling or filled)[-_LAST_LINES:])
