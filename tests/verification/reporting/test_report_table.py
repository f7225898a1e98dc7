"""The report for a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from polybake.verification.reporting.report_table import print_report
from support.samples.sample_report import sample_report


def printed(width: int, **changes) -> str:
    """The sample as a terminal of that width shows it, without colours."""
    console = Console(file=io.StringIO(), width=width)
    print_report(sample_report(**changes), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120])
def test_nothing_is_cut_off(width: int) -> None:
    """Verdicts, versions, counts and differences are whole at common widths."""
    text = printed(width)
    lines = text.splitlines()
    assert "…" not in text
    for words in (
        ("PASS", "ruby 10.0.101", "cpu", "2/2", "2.1e-07", "123.4"),
        ("FAIL", "csharp 10.0.101", "cuda", "2/2", "1/2", "3.0e-05"),
        ("SKIP", "node", "cpu", "0/2"),
        ("runtime 1.31.1", "CUDA"),
        ("tokenizer 0.23.3",),
    ):
        assert any(all(word in line for word in words) for line in lines), words


def test_each_trouble_has_one_line() -> None:
    """A failure names language, device, case and stage; equal skips share a line."""
    lines = printed(80).splitlines()
    (failure,) = [line for line in lines if line.startswith("FAIL ") and ": " in line]
    assert failure.startswith("FAIL csharp on cuda, case long, stage embed: fail: bad \\x00 \\x1b")
    (skip,) = [line for line in lines if line.startswith("SKIP ") and ": " in line]
    assert skip == (
        "SKIP node on cpu, case plain, stage tokenize and 5 more: "
        "missing-toolchain: not on PATH: npm"
    )


def test_largest_differences_end_the_report() -> None:
    """The largest differences, notes, what is missing, and the count of stages come last."""
    lines = printed(80, missing=("ruby is required, but",)).splitlines()
    golden = "(csharp on cuda, case long, stage embed)"
    between = "(csharp and ruby, case long, row 3)"
    assert lines[-5:] == [
        f"largest difference from the golden vectors: 3.0e-05 {golden}",
        f"largest difference between languages on cpu: 1.2e-07 {between}",
        "note: a note",
        "MISSING ruby is required, but",
        "12 of 18 stages executed (3 runs x 2 cases x 3 stages), failures: 1",
    ]


def test_nothing_verified_is_said() -> None:
    """A report without an executed stage says so."""
    assert printed(80, verdicts=()).endswith("nothing was verified: no client ran a single case\n")
