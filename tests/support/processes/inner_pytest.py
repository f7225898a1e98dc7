"""A pytest of its own, as users run it with polybake's plugin and pytest-xdist."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def inner_pytest(project: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    """The exit code of a run in a folder, with these variables, and all that it prints."""
    plugins = [
        "-p",
        "polybake.verification.testing.plugin",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
    ]
    # Where polybake is installed, pytest would find the same plugin by itself, too.
    own = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", *plugins, *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **own, **settings},
    )
    return done.returncode, done.stdout + done.stderr
