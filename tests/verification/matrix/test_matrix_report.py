"""The results of a matrix: its exit code, and its forms."""

from __future__ import annotations

import io
import json
import re

from rich.console import Console

from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.matrix_report import Row
from polybake.verification.matrix.report_json import matrix_json
from polybake.verification.matrix.report_markdown import matrix_markdown
from polybake.verification.matrix.report_table import headings, print_matrix
from support.samples.sample_matrix import failed, passed, sample_matrix, skipped, versions


def row(*cells) -> Row:
    return Row(Combination("python"), versions(), cells, 1.0)


def test_a_cell_is_what_is_worst_in_it() -> None:
    """A failure outranks a pass, which outranks a skip; the largest difference counts."""
    cells = (passed("m"), failed("m"), skipped("m"))
    assert [cell.status for cell in cells] == ["pass", "fail", "missing-toolchain"]
    assert [cell.difference for cell in cells] == [3.4e-7, 3e-2, None]


def test_exit_codes_are_those_of_verify() -> None:
    fine = row(passed("m"), skipped("m"))
    assert sample_matrix(rows=(fine,)).exit_code() == 0
    assert sample_matrix(rows=(fine,), missing=("x",)).exit_code() == 3
    assert sample_matrix(rows=(fine, row(failed("m"))), missing=("x",)).exit_code() == 1
    assert sample_matrix(rows=(row(skipped("m")),)).exit_code() == 1


def test_each_form_tells_the_same() -> None:
    """Numbers are exact in JSON; names and messages end no cell and steer no terminal."""
    report = sample_matrix(missing=("python is required",))
    old, none = json.loads(matrix_json(report))["rows"]
    assert (old["runtime"], old["threads"], old["instructions"]) == ("1.24.3", 1, None)
    cells = [(cell["status"], cell["difference"]) for cell in old["cells"]]
    assert cells == [("pass", 3.4e-7), ("fail", 3e-2)]
    assert (none["versions"], none["cells"][0]["message"]) == (None, "no such version")
    page = matrix_markdown(report)
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [9] * 4
    assert lines[2].endswith("| 1 | own | PASS 3.4e-07 | FAIL 3.0e-02 |")
    assert "- SKIP python on cpu, runtime 0.0.99, instructions Haswell: plain embed:" in page
    assert "<b>" not in page
    console = Console(file=io.StringIO(), width=120)
    print_matrix(report, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    row = "python 3.11.7 1.24.3 0.22.2 cpu 1 own PASS 3.4e-07 FAIL 3.0e-02"
    assert " ".join(text.splitlines()[1].split()) == row
    assert text.count("no such version") == 1
    assert "FAIL python on cpu, runtime 1.24.3, threads 1: plain embed: fail: bad \\x00" in text
    assert "\x1b" not in text
    assert "MISSING python is required" in text
    assert "1 of 4 cells passed, 1 failed, 2 skipped; A Processor (avx2), Linux" in text


def test_columns_that_nobody_asked_for_are_left_out() -> None:
    """A matrix of versions alone says nothing of threads."""
    plain = Row(Combination("python", runtime="1.24.3"), versions(), (passed("m"),), 1.0)
    report = sample_matrix(models=("m",), rows=(plain,))
    assert headings(report) == ("client", "runtime", "tokenizer", "device", "m")
