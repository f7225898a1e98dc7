"""A harness that may use less of the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polybake.errors import InputError
from polybake.verification.harness.harness_file import Client
from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.limits import check_instructions, limited
from polybake.verification.verdict import HarnessError, Status

PROCESSORS = (sys.executable, "-S", "-c", "import os; print(len(os.sched_getaffinity(0)))")

affinity = pytest.mark.skipif(
    sys.platform != "linux", reason="taskset, which limits threads, is Linux's"
)
emulated = pytest.mark.skipif(
    not any(map(shutil.which, ("qemu-x86_64", "qemu-x86_64-static"))),
    reason="QEMU is missing: install qemu-user",
)


def client(*run: str) -> Client:
    return Client(language="tiny", folder=Path.cwd(), run=run or PROCESSORS)


def printed(one: Client) -> str:
    return subprocess.run(one.run, capture_output=True, text=True, check=True).stdout.strip()


@affinity
def test_threads_are_the_processors_that_a_harness_sees() -> None:
    """The affinity mask limits a harness; more than there are is a missing device."""
    assert limited(client(), None, None) == client()
    usable = len(os.sched_getaffinity(0))
    for threads in (1, usable):
        assert printed(limited(client(), threads, None)) == str(threads)
    with pytest.raises(HarnessError, match=f"may use {usable} processors") as caught:
        limited(client(), usable + 1, None)
    assert caught.value.status is Status.MISSING_DEVICE


def test_without_an_emulator_its_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No harness runs on the machine's own processor instead."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="install the package qemu-user") as caught:
        limited(client(), None, "Haswell")
    assert caught.value.status is Status.MISSING_TOOLCHAIN


@pytest.mark.parametrize("language", ["node", "ruby", "csharp"])
def test_a_harness_that_would_leave_the_emulator_is_refused(language: str) -> None:
    """Node's starts a process of its own, which would pass on the machine's own processor."""
    check_instructions(Combination("python", instructions="Haswell"))
    check_instructions(Combination(language, threads=1))
    with pytest.raises(InputError, match="can be chosen for: python; leave them out"):
        check_instructions(Combination(language, instructions="Haswell"))


@emulated
def test_instructions_are_those_that_a_program_sees() -> None:
    """The emulator stands before the harness's own program."""
    limits = limited(client(), None, "Nehalem")
    assert limits.run[1:3] == ("-cpu", "Nehalem")
    assert printed(limits) == printed(client())


@emulated
def test_sets_that_are_not_emulated_are_no_pass() -> None:
    """QEMU itself only warns, and would run AVX2 in AVX-512's name."""
    with pytest.raises(HarnessError, match=r"does not emulate .*avx512f") as caught:
        limited(client(), None, "Icelake-Server")
    assert caught.value.status is Status.MISSING_DEVICE


@emulated
def test_an_unknown_processor_is_named() -> None:
    """The message holds the command that lists the known processors."""
    with pytest.raises(HarnessError, match=r"'Pentium9'; list processors with: .* -cpu help"):
        limited(client(), None, "Pentium9")


@emulated
def test_a_script_is_not_emulated(tmp_path: Path) -> None:
    """A script, such as Bundler's, would start programs on the machine's own processor."""
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    with pytest.raises(HarnessError, match="is a script; an emulator needs a program"):
        limited(client(str(script)), None, "Nehalem")
