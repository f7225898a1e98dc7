"""The toolchain and commands that a client needs before its harness runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.prepare import check_programs, run_prepare
from polybake.verification.verdict import HarnessError, Status


def python(script: str) -> tuple[str, ...]:
    """A command that runs a line of Python."""
    return (sys.executable, "-S", "-c", script)


def tiny(folder: Path, **fields) -> Client:
    """A client that is never started."""
    return Client(language="tiny", folder=folder, run=("x",), **fields)


def test_missing_programs_are_named(tmp_path: Path) -> None:
    """Every program that is not on the client's own PATH is named, and only those."""
    check_programs(tiny(tmp_path, requires=(sys.executable,)))
    client = tiny(tmp_path, requires=("no-such-a", sys.executable, "no-such-b"))
    with pytest.raises(HarnessError, match="not on PATH: no-such-a, no-such-b;") as caught:
        check_programs(client)
    assert caught.value.status is Status.MISSING_TOOLCHAIN
    name = Path(sys.executable).name
    folder = {"PATH": str(Path(sys.executable).parent)}
    check_programs(tiny(tmp_path, requires=(name,), environment=folder))
    with pytest.raises(HarnessError, match=f"not on PATH: {name};"):
        check_programs(tiny(tmp_path, requires=(name,), environment={"PATH": str(tmp_path)}))


def test_prepare_runs_in_order_in_the_folder(tmp_path: Path) -> None:
    """Each command sees what the one before it left in the client's folder."""
    client = tiny(
        tmp_path,
        prepare=(
            python("open('a', 'w').write('1')"),
            python("import os; os.rename('a', os.environ['TARGET'])"),
        ),
        environment={"TARGET": "b"},
    )
    run_prepare(client, 60)
    assert (tmp_path / "b").read_text() == "1"


def test_failed_prepare_shows_its_output(tmp_path: Path) -> None:
    """A command that fails ends the preparation, with its exit code and last lines."""
    client = tiny(
        tmp_path,
        prepare=(python("print('no network'); raise SystemExit(5)"), python("open('b', 'w')")),
    )
    with pytest.raises(HarnessError, match="exit code 5: no network") as caught:
        run_prepare(client, 60)
    assert caught.value.status is Status.ERROR
    assert not (tmp_path / "b").exists()


def test_slow_prepare_is_ended(tmp_path: Path) -> None:
    """A command that does not end in time is a time-out."""
    client = tiny(tmp_path, prepare=(python("import time; time.sleep(600)"),))
    with pytest.raises(HarnessError, match=r"not done in 0\.2 s") as caught:
        run_prepare(client, 0.2)
    assert caught.value.status is Status.TIMEOUT
