"""The shapes and docs/support.md list the same models."""

from __future__ import annotations

from pathlib import Path

from published.rows import names_of
from published.shape import shapes
from support.oracle.published_models import REMEDY, parse

PAGE = Path(__file__).resolve().parents[2] / "docs" / "support.md"


def test_no_model_is_listed_twice() -> None:
    """Each repository stands in the list once, with its own shape or beside another."""
    names = [name for shape in shapes() for name in (shape.repository, *shape.also)]
    assert sorted(names) == sorted({*names})


def test_the_page_lists_the_shapes() -> None:
    """No published model is missing in the table, and none is left over."""
    listed = {name for shape in shapes() for name in names_of(shape)}
    shown = parse(PAGE.read_text("utf-8")).keys()
    assert shown == listed, f"to write the table anew: {REMEDY}"
