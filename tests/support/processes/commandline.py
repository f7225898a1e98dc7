"""The command line as a user calls it: all that it prints, and its exit code."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest


def run(
    *arguments: object, cwd: Path | None = None, stdin: bytes = b"", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of polybake in this process, with these settings in its environment."""
    words = [str(argument) for argument in arguments]
    if any(name.startswith(("PYTHON", "HF_")) for name in settings):  # a new Python reads them
        command = [sys.executable, "-m", "polybake.cli.main", *words]
        environment = {**os.environ, **settings}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=cwd, env=environment
        )
    from polybake.cli.main import main

    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in "12")
    code: object = 0
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", ["polybake", *words]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        patch.dict(os.environ, settings),
        chdir(cwd or Path.cwd()),
        same_signals(),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    assert isinstance(code, int)
    return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def polybake(*arguments: object, cwd: Path, code: int = 0, **settings: str) -> str:
    """All that a command prints, if it ends with ``code``."""
    done = run(*arguments, cwd=cwd, **settings)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def without(
    packages: Sequence[str], *arguments: object, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own, in which these packages cannot be imported."""
    if not hasattr(os, "fork"):
        pytest.skip("packages are hidden in a fork, which this system has not")
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.touch()
        err.touch()
        request = {
            "arguments": [str(argument) for argument in arguments],
            "hidden": list(packages),
            "folder": str(cwd),
            "environment": dict(os.environ),
            "out": str(out),
            "err": str(err),
        }
        process = _forking()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())


@contextmanager
def same_signals() -> Iterator[None]:
    """Put back the signal handlers that the command line replaces."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    taken = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.getsignal(number) for number in taken]
    try:
        yield
    finally:
        for number, handler in zip(taken, before, strict=True):
            signal.signal(number, handler)


def _text(printed: io.TextIOWrapper) -> str:
    printed.flush()
    assert isinstance(printed.buffer, io.BytesIO)
    return printed.buffer.getvalue().decode()


@cache
def _forking() -> subprocess.Popen[str]:
    program = Path(__file__).with_name("forking.py")
    command = [sys.executable, str(program)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
