"""A matrix on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.matrix_report import Row
from polybake.verification.matrix.report_table import headings, print_matrix
from support.samples.sample_matrix import passed, sample_matrix, versions


def printed(**changes) -> str:
    console = Console(file=io.StringIO(), width=120)
    print_matrix(sample_matrix(**changes), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_row_has_its_versions_and_a_cell_for_each_model() -> None:
    """Versions are those that the client reports; if it never ran, those asked for."""
    _, old, none, *_ = printed().splitlines()
    assert old.split() == [
        "python", "3.11.7", "1.24.3", "0.22.2", "cpu", "1", "own", "PASS", "3.4e-07", "FAIL",
        "3.0e-02",
    ]  # fmt: skip
    assert none.split() == [
        "python", "0.0.99", "unknown", "cpu", "all", "Haswell", "SKIP", "missing-toolchain",
        "SKIP", "missing-toolchain",
    ]  # fmt: skip


def test_columns_that_nobody_asked_for_are_left_out() -> None:
    """A matrix of versions alone says nothing of threads."""
    plain = Row(Combination("python", runtime="1.24.3"), versions(), (passed("m"),), 1.0)
    report = sample_matrix(models=("m",), rows=(plain,))
    assert headings(report) == ("client", "runtime", "tokenizer", "device", "m")


def test_each_trouble_is_told_once() -> None:
    """A trouble lists its models unless it concerns all, and never steers the terminal."""
    text = printed(missing=("python is required",))
    assert text.count("no such version") == 1
    assert "FAIL python on cpu, runtime 1.24.3, threads 1: plain embed: fail: bad \\x00" in text
    assert "(minilm|int8)" in text
    assert "\x1b" not in text
    assert "MISSING python is required" in text
    assert "1 of 4 cells passed, 1 failed, 2 skipped; A Processor (avx2), Linux" in text
