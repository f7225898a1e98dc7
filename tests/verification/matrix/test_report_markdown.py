"""A matrix as a page's table."""

from __future__ import annotations

import re

from polybake.verification.matrix.report_markdown import matrix_markdown
from support.samples.sample_matrix import sample_matrix


def test_every_line_of_the_table_has_as_many_columns() -> None:
    """A column's end within a name or a message is escaped."""
    text = matrix_markdown(sample_matrix())
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {9}
    assert "minilm\\|int8 |" in lines[0]
    assert lines[2].endswith("| 1 | own | PASS 3.4e-07 | FAIL 3.0e-02 |")


def test_troubles_are_points_without_tags() -> None:
    """A client's message is shown as text."""
    text = matrix_markdown(sample_matrix())
    assert "- SKIP python on cpu, runtime 0.0.99, instructions Haswell: plain embed:" in text
    assert "<b>" not in text
    assert text.endswith("2 skipped; A Processor (avx2), Linux\n")
