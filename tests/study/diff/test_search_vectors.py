"""The vectors that are kept for a search."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.study.diff import search_vectors
from polybake.study.diff.search_vectors import SearchVectors


def test_they_are_kept_by_role() -> None:
    """Vectors are kept text by text, and may have another dimension in the second file."""
    kept = SearchVectors()
    old = [np.full((1, 3), number, np.float32) for number in range(2)]
    new = [np.full((1, 2), number, np.float32) for number in range(2)]
    kept.add(["document"], old, new)
    kept.add(["query"], old[:1], new[:1])
    assert len(kept) == 2
    before, after = kept.arrays("document")
    assert (before.tolist(), after.tolist()) == ([[0] * 3, [1] * 3], [[0] * 2, [1] * 2])
    assert kept.arrays("query")[0].shape == (1, 3)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of texts is limited, and so are the elements of the longer vectors."""
    monkeypatch.setattr(search_vectors, "MOST_TEXTS", 5)
    monkeypatch.setattr(search_vectors, "_MOST_ELEMENTS", 30)
    for dimension, most in ((3, 5), (10, 3)):
        kept = SearchVectors()
        rows = [np.zeros((1, dimension), np.float32)] * 9
        kept.add(["document", "query"], [np.zeros((1, 1), np.float32)] * 9, rows)
        assert [len(kept.arrays(role)[0]) for role in kept.found] == [most, most]
