"""Stretches of a corpus."""

from __future__ import annotations

import pytest

from polybake.base.texts import window
from polybake.base.texts.window import ObjectWindow, cut


def test_a_window_has_so_many_rows_and_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that is too long stands alone, and none is lost."""
    monkeypatch.setattr(window, "MOST_ROWS", 3)
    monkeypatch.setattr(window, "MOST_CHARACTERS", 10)
    sizes = [1, 1, 1, 1, 5, 5, 30, 2, 10, 0]
    windows = list(cut(enumerate(sizes)))
    assert windows == [[0, 1, 2], [3, 4], [5], [6], [7], [8, 9]]
    assert list(cut([])) == []


def digest(*texts: str | None) -> str:
    return ObjectWindow(texts, range(len(texts))).digest()


def test_the_digest_is_of_each_text() -> None:
    """The digest tells where texts end, and an empty text from a missing one."""
    assert digest("ab", "c") == digest("ab", "c")
    others = [("a", "bc"), ("abc",), ("c", "ab"), ("ab", "c", ""), ("ab", "C"), ("ab1:c",)]
    assert len({digest(*texts) for texts in [("ab", "c"), *others]}) == len(others) + 1
    assert digest("") != digest(None)
