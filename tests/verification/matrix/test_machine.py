"""The machine that a matrix was run on."""

from __future__ import annotations

from pathlib import Path

from polybake.verification.matrix.machine import machine


def test_the_sets_that_decide_are_named(tmp_path: Path) -> None:
    """Only whole words count: avx512f is not avx512_vnni."""
    information = tmp_path / "cpuinfo"
    information.write_text(
        "processor\t: 0\nmodel name\t: A Processor @ 2 GHz\nflags\t\t: fpu sse4_1 avx2 avx512f\n"
    )
    assert machine(information).startswith("A Processor @ 2 GHz (sse4_1, avx2, avx512f), ")


def test_a_machine_without_that_file_has_a_name(tmp_path: Path) -> None:
    """A machine is named even without the file, as on macOS."""
    assert machine(tmp_path / "none").strip(", ")
