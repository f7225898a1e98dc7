"""Faults that the Go client's own tests must catch."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.clients.planted import Fault, faults
from support.clients.rendered import run, write

pytestmark = [pytest.mark.go, pytest.mark.usefixtures("go_library")]


@pytest.mark.planted
@faults("go")
def test_its_own_tests_catch(fault: Fault, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The client compiles with the fault, and one of its own tests fails."""
    model: Path = request.getfixturevalue(fault.model)
    folder = write("go", tmp_path, model)
    fault.plant(folder)
    run("go", "vet", "./...", cwd=folder)
    done = subprocess.run(
        ["go", "test", "-p=1", "."],
        cwd=folder,
        env=os.environ | {"POLYBAKE_MODEL": str(model)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "--- FAIL: " in done.stdout, done.stdout
