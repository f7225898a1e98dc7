from __future__ import annotations

import re
from pathlib import Path

from polybake.baking.encoders import ENCODERS
from support.oracle.published_models import section
from support.oracle.support_table import Row, faults, parse, render

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "docs" / "support.md"

ROW = Row(
    "bert", "folder, with a head", "pool(mode=mean) -> normalize()", "tests/test_a.py::test_b"
)
OTHER = ROW._replace(kind="albert")
TASKS = (
    "embed | classify | classify-pairs | rerank | zero-shot | tag | answer "
    "| sparse | multi-vector | hybrid"
)


def test_a_page_is_read_as_it_was_written() -> None:
    """Every column survives, and rows are sorted."""
    page = render({ROW: 2e-7, OTHER: 3e-6})
    assert list(parse(page).items()) == [(OTHER, 3e-6), (ROW, 2e-7)]
    assert page.endswith("| 2e-07 | [test_b](../tests/test_a.py) |\n")


def test_differences_are_rounded_up() -> None:
    """One digit is shown, never less than was found, and nothing below the rounding of float32."""
    shown = {2.01e-7: 3e-7, 2e-7: 2e-7, 9.1e-7: 1e-6, 0.0: 1e-8}
    assert {found: parse(render({ROW: found}))[ROW] for found in shown} == shown


def test_agreement_is_no_fault() -> None:
    """A difference may be ten times the committed one."""
    assert faults({ROW: 9.9e-7}, {ROW: 1e-7}, whole=True) == []


def test_a_missing_row_and_a_grown_difference_are_faults() -> None:
    """Both faults are named after any run, with the test that found them."""
    (missing,) = faults({ROW: 1e-7}, {}, whole=False)
    assert missing.startswith("has no row for bert, folder, with a head, pool(mode=mean)")
    (grown,) = faults({ROW: 1.2e-6}, {ROW: 1e-7}, whole=False)
    assert grown.startswith("shows 1e-07 for bert")
    assert grown.endswith("(tests/test_a.py::test_b); found 1.2e-06")


def test_a_left_over_row_is_a_fault_of_a_whole_run() -> None:
    """Part of the tests says nothing about the rows of the others."""
    committed = {ROW: 1e-7, OTHER: 1e-7}
    assert faults({ROW: 1e-7}, committed, whole=False) == []
    (left,) = faults({ROW: 1e-7}, committed, whole=True)
    assert left.startswith("has a row that no test wrote: albert")


def test_the_committed_page_is_one_that_tests_write() -> None:
    """Nobody edits docs/support.md by hand, and its links name tests that exist."""
    page = PAGE.read_text(encoding="utf-8")
    rows = parse(page)
    assert page == render(rows, section(page))
    for row in rows:
        path, _, function = row.test.partition("::")
        assert f"def {function}(" in (REPOSITORY / path).read_text(encoding="utf-8")


def test_the_page_sums_up_each_model_and_each_source() -> None:
    """Variants are one line, with the largest difference of each task; all rows follow."""
    variant = ROW._replace(kind="bert, gelu", source="hub")
    tagger = ROW._replace(kind="new (GTE) tagger, gelu")
    rows = {ROW: 2e-7, variant: 3e-6, OTHER: 1e-7, tagger: 4e-7}
    _, by_task, by_source, proofs = render(rows).split("\n## ")
    assert by_task.splitlines() == [
        "Models by task",
        "",
        f"| model | {TASKS} |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        "| albert | 1e-07 |  |  |  |  |  |  |  |  |  |",
        "| bert | 3e-06 |  |  |  |  |  |  |  |  |  |",
        "| new (GTE) |  |  |  |  |  | 4e-07 |  |  |  |  |",
    ]
    assert by_source.splitlines() == [
        "Models by source",
        "",
        "| source | models |",
        "|---|---|",
        "| folder | albert, bert, new (GTE) |",
        "| hub | bert |",
    ]
    assert len(parse(proofs)) == len(rows)


def test_every_architecture_has_a_row() -> None:
    """Every model_type that polybake builds is proven by a test."""
    shown = {re.match(r"[\w-]+", row.kind)[0] for row in parse(PAGE.read_text(encoding="utf-8"))}
    assert not ENCODERS.keys() - shown
