"""A client's commands as processes that lead a group of their own, without a shell."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
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


def check_programs(client: Client) -> None:
    """Check for the programs that the client requires."""
    path = client.full_environment().get("PATH")
    missing = [name for name in client.requires if shutil.which(name, path=path) is None]
    if missing:
        raise HarnessError(
            Status.MISSING_TOOLCHAIN,
            f"not on PATH: {', '.join(missing)}; install what {client.language} needs",
        )


def run_prepare(client: Client, seconds: float) -> None:
    """Run the client's prepare commands in its folder."""
    for argv in client.prepare:
        with tempfile.TemporaryFile() as output:
            process = spawn(
                client, argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
            try:
                code: int | None = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                kill_group(process)
            if code != 0:
                ended = f"not done in {seconds:g} s" if code is None else f"exit code {code}"
                raise HarnessError(
                    Status.TIMEOUT if code is None else Status.ERROR,
                    f"prepare: {shlex.join(argv)}: {ended}: {last_lines(output)}",
                )


def unprepared(client: Client, crash: HarnessError) -> HarnessError:
    """Judge a harness that ended before its first answer, though nothing was prepared here."""
    commands = " && ".join(shlex.join(argv) for argv in client.prepare)
    return HarnessError(
        Status.MISSING_TOOLCHAIN,
        f"{crash.message}; if packages are missing, install them with: "
        f"polybake verify --prepare, or in {client.folder}: {commands}",
    )
