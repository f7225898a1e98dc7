"""Vectors that are the beginning of other vectors."""

from __future__ import annotations

import numpy as np
import pytest

from polybake.base.modelfile.fixture import TOLERANCES
from polybake.study.diff.search_vectors import SearchVectors
from polybake.study.diff.shortened import shortened

OLD = np.random.default_rng(3).normal(size=(9, 8)).astype(np.float32)
CUT = OLD[:, :5]


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (CUT, "cut"),
        (CUT / np.linalg.norm(CUT, axis=1, keepdims=True), "cut and normalized"),
        (CUT * 2, None),
        (OLD[:, 1:6], None),
        (OLD, None),
        (np.concatenate([OLD, OLD], axis=1), None),
        (CUT.astype(np.int8), None),
    ],
)
def test_a_beginning_is_seen(new: np.ndarray, found: str | None) -> None:
    """The first elements are recognised, as they are or normalised again."""
    kept = SearchVectors()
    kept.add(["document", "query"], [*OLD[:, None]], [*new[:, None]])
    assert shortened(kept, TOLERANCES["cpu"]) == found


def test_queries_count_too() -> None:
    """Queries may differ even if documents are cut, so both are checked."""
    kept = SearchVectors()
    kept.add(["document"], [*OLD[:, None]], [*CUT[:, None]])
    kept.add(["query"], [*OLD[:, None]], [*-CUT[:, None]])
    assert shortened(kept, TOLERANCES["cpu"]) is None


def test_no_texts_show_nothing() -> None:
    """A comparison without searched texts shows no shortening."""
    assert shortened(SearchVectors(), TOLERANCES["cpu"]) is None
