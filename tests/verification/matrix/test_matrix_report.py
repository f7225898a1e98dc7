"""The results of a matrix, and its exit code."""

from __future__ import annotations

from polybake.verification.matrix.combination import Combination
from polybake.verification.matrix.matrix_report import Row
from support.samples.sample_matrix import failed, passed, sample_matrix, skipped, versions


def row(*cells) -> Row:
    return Row(Combination("python"), versions(), cells, 1.0)


def test_a_cell_is_what_is_worst_in_it() -> None:
    """A failure outranks a pass, and a pass outranks a skip."""
    assert passed("m").status == "pass"
    assert failed("m").status == "fail"
    assert skipped("m").status == "missing-toolchain"


def test_the_difference_is_that_of_the_golden_cases() -> None:
    """The largest difference of all stages counts; a cell without vectors has none."""
    assert passed("m").difference == 3.4e-7
    assert failed("m").difference == 3e-2
    assert skipped("m").difference is None


def test_exit_codes_are_those_of_verify() -> None:
    """A failure, a missing requirement and an empty run have verify's exit codes."""
    fine = row(passed("m"), skipped("m"))
    assert sample_matrix(rows=(fine,)).exit_code() == 0
    assert sample_matrix(rows=(fine,), missing=("x",)).exit_code() == 3
    assert sample_matrix(rows=(fine, row(failed("m"))), missing=("x",)).exit_code() == 1
    assert sample_matrix(rows=(row(skipped("m")),)).exit_code() == 1
