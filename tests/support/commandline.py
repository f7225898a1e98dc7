"""The command line as a user runs it: another process, its text and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run(
    *arguments: object, cwd: Path | None = None, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of polybake, with these settings in its environment."""
    return subprocess.run(
        [sys.executable, "-m", "polybake.cli.main", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, **settings},
    )


def polybake(*arguments: object, cwd: Path, code: int = 0, **settings: str) -> str:
    """All that a command prints, if it ends with ``code``."""
    done = run(*arguments, cwd=cwd, **settings)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
