"""The pytest plugin: when it takes a polybake.toml, and what it costs other runs."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from polybake.verification.testing import plugin
from support.processes.inner_pytest import inner_pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a test, and a polybake.toml that is wrong and says so when it is read."""
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    (tmp_path / "polybake.toml").write_text("wrong = 1\n")
    return tmp_path


def test_pytest_finds_the_plugin(repository: Path) -> None:
    """An installed polybake has the entry point by which pytest finds it."""
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"]["pytest11"].items()
    assert EntryPoint(name, value, "pytest11").load() is plugin


def test_a_polybake_toml_that_nobody_named_is_left_alone(project: Path) -> None:
    """A run of other tests never starts clients."""
    code, printed = inner_pytest(project, ".")
    assert (code, "1 passed" in printed) == (0, True), printed


def test_testpaths_name_it_for_every_run(project: Path) -> None:
    """The setting testpaths of pytest may name polybake.toml."""
    (project / "pytest.ini").write_text("[pytest]\ntestpaths = test_one.py polybake.toml\n")
    code, printed = inner_pytest(project)
    assert (code, "wrong: unknown key" in printed) == (2, True), printed


def test_other_files_that_are_named_are_not_taken(project: Path) -> None:
    """Settings of another tool are left alone."""
    (project / "pyproject.toml").write_text("[project]\n")
    code, printed = inner_pytest(project, "pyproject.toml")
    assert (code, "polybake" in printed.partition("collected")[2]) == (4, False), printed


def test_several_processes_do_not_prepare_one_client(project: Path) -> None:
    """pytest-xdist would spread a file's tests over processes unless it is told not to."""
    code, printed = inner_pytest(project, "test_one.py", "-n", "1", plugin.PREPARE)
    assert (code, "with --dist load: expected --dist loadfile" in printed) == (4, True), printed
    safe = [plugin.PREPARE, "--dist", "loadfile"]
    assert inner_pytest(project, "test_one.py", "-n", "1", *safe)[0] == 0


def test_the_plugin_alone_imports_nothing_large() -> None:
    """Every run of pytest loads the plugin where polybake is installed."""
    code = (
        "import sys, polybake.verification.testing.plugin\n"
        "print(*(name for name in ('numpy', 'pydantic', 'typer', 'rich') if name in sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
