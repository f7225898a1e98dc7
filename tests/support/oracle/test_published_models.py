"""The table of published models: its rows, and what others write around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.oracle.published_models import Row, faults, parse, section, with_rows
from support.oracle.support_table import Row as Proof
from support.oracle.support_table import parse as proofs_of
from support.oracle.support_table import render

pytest_plugins = ["pytester"]

ROW = Row("owner/b", "embed", '`pickle = "tensors"`, `[prompts]`')
OTHER = Row("Owner/a", "refused: one | <other>", "")
PROOFS = {Proof("bert", "folder", "pool(mode=mean)", "tests/test_a.py::test_b"): 2e-7}
FOLDER = Path(__file__).parents[2]


def test_a_table_is_read_as_it_was_written() -> None:
    """Every column survives, and rows are sorted whatever their owner's case is."""
    page = with_rows(render(PROOFS), [ROW, OTHER])
    assert list(parse(page).items()) == [
        ("Owner/a", OTHER._replace(becomes="refused: one \\| &lt;other>")),
        ("owner/b", ROW),
    ]
    assert faults({row.name: row for row in (ROW, OTHER)}, parse(page), whole=True) == []


def test_two_writers_keep_each_others_part() -> None:
    """The rows of proofs stay where models are written anew, and the other way round."""
    page = with_rows(render(PROOFS), [ROW])
    assert proofs_of(page) == PROOFS
    assert render(PROOFS, section(page)) == page
    again = with_rows(page, [OTHER])
    assert list(parse(again)) == ["Owner/a"]
    assert with_rows(again, [ROW]) == page
    assert again.replace(section(again), "") == page.replace(section(page), "")


def test_a_row_that_differs_is_a_fault() -> None:
    """A missing row and a changed end are named after any run, a left-over one after a whole."""
    (missing,) = faults({ROW.name: ROW}, {}, whole=False)
    assert missing == 'has no row for owner/b; found embed with `pickle = "tensors"`, `[prompts]`'
    refused = ROW._replace(becomes="refused: why", setting="")
    (changed,) = faults({ROW.name: refused}, {ROW.name: ROW}, whole=False)
    assert changed.endswith("owner/b; found refused: why")
    committed = {ROW.name: ROW, OTHER.name: OTHER}
    assert faults({ROW.name: ROW}, committed, whole=False) == []
    (left,) = faults({ROW.name: ROW}, committed, whole=True)
    assert left == "has a row that no shape gave: Owner/a"


MODELS = """
import pytest

@pytest.mark.parametrize("name", ["owner/a", "owner/b"])
def test_end(name, record_property):
    record_property("published", [[name, "embed", ""]])
    record_property("listed", 2)
    assert name != "owner/x"
"""


def test_a_whole_run_writes_the_table(pytester: pytest.Pytester) -> None:
    """A part, and a run with a failure, change nothing; a run without the option compares."""
    pytester.makeini(f"[pytest]\npythonpath = {FOLDER}\n")
    pytester.makeconftest('pytest_plugins = ["support.oracle.published_pages"]\n')
    page = pytester.mkdir("docs") / "support.md"
    page.write_text(render(PROOFS), encoding="utf-8")
    tests = pytester.makepyfile(test_models=MODELS)

    def run(*arguments: str) -> tuple[int, str]:
        done = pytester.runpytest_inprocess(*arguments)
        return done.ret, done.stdout.str()

    code, output = run()
    assert code == 1
    assert "docs/support.md has no row for owner/a; found embed" in output
    assert "nox -s guards -- --write-models" in output
    code, output = run("--write-models", "-k", "owner/a")
    assert code == 1
    assert "was not written" in output
    assert page.read_text("utf-8") == render(PROOFS)
    assert run("--write-models")[0] == 0
    assert list(parse(page.read_text("utf-8"))) == ["owner/a", "owner/b"]
    assert run()[0] == run("-k", "owner/a")[0] == 0
    tests.write_text(MODELS.replace("owner/x", "owner/b").replace('"embed"', '"tag"'), "utf-8")
    before = page.read_text("utf-8")
    assert run("--write-models")[0] == 1
    assert page.read_text("utf-8") == before
