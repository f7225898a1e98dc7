"""Prepare a client before its harness runs: check programs on PATH, and install packages."""

import shlex
import shutil
import subprocess
import tempfile

from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.process import kill_group, last_lines, spawn
from polybake.verification.verdict import HarnessError, Status


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
