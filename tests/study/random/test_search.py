"""Values drawn and searched by hypothesis."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import strategies as st

from polybake.study.random.search import draw, smallest

WORDS = st.lists(st.text(max_size=5), max_size=4)


def test_a_seed_gives_the_same_values() -> None:
    """One seed gives the same values each time; another seed gives others."""
    first = draw(WORDS, 30, 1)
    assert first == draw(WORDS, 30, 1)
    assert first != draw(WORDS, 30, 2)
    assert len(first) == 30


def test_the_search_begins_with_what_was_drawn() -> None:
    """The search repeats the drawn values in order, so that known results count again."""
    drawn = draw(WORDS, 30, 1)
    seen = list[list[str]]()
    assert smallest(WORDS, 30, 1, lambda value: bool(seen.append(value))) is None
    assert seen == drawn


def test_the_smallest_is_found() -> None:
    """The smallest of all failing values is found."""
    found = smallest(st.lists(st.integers()), 100, 1, lambda value: sum(value) > 100)
    assert found == [101]


def test_nothing_is_written_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No folder of hypothesis appears in the user's folder."""
    monkeypatch.chdir(tmp_path)
    smallest(st.text(st.characters(categories=["Lo"])), 50, 1, lambda value: len(value) > 2)
    assert [*tmp_path.iterdir()] == []
