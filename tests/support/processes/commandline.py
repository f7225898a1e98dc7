"""The command line as a user runs it: another process, its text and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path


def run(
    *arguments: object, cwd: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of polybake, with these settings in its environment."""
    words = [str(argument) for argument in arguments]
    environment = {**os.environ, **settings}
    if any(name.startswith("PYTHON") for name in settings):  # only a new Python reads them
        command = [sys.executable, "-m", "polybake.cli.main", *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
        )
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.touch()
        err.touch()
        request = {
            "arguments": words,
            "folder": str(cwd or Path.cwd()),
            "environment": environment,
            "out": str(out),
            "err": str(err),
        }
        process = _forking()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())


def polybake(*arguments: object, cwd: Path, code: int = 0, **settings: str) -> str:
    """All that a command prints, if it ends with ``code``."""
    done = run(*arguments, cwd=cwd, **settings)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@cache
def _forking() -> subprocess.Popen[str]:
    program = Path(__file__).with_name("forking.py")
    command = [sys.executable, str(program)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
