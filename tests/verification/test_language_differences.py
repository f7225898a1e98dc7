"""The largest difference between languages."""

from __future__ import annotations

import numpy as np

from polybake.verification.language_differences import LanguageDifference, language_differences


def rows(*values: float) -> np.ndarray:
    """float32 rows of two elements."""
    return np.array([[0.0, value] for value in values], dtype=np.float32)


def test_each_pair_has_its_largest_difference() -> None:
    """Pairs are compared row by row over the cases that both have."""
    vectors = {
        "ruby": {"a": rows(1.0), "b": rows(0.0, 0.5)},
        "node": {"a": rows(1.0), "b": rows(0.0, 0.25), "c": rows(9.0)},
        "csharp": {"a": rows(0.0), "b": rows(0.0, 0.25)},
    }
    assert list(language_differences("cpu", vectors)) == [
        LanguageDifference("cpu", ("csharp", "node"), 1.0, "a", 0),
        LanguageDifference("cpu", ("csharp", "ruby"), 1.0, "a", 0),
        LanguageDifference("cpu", ("node", "ruby"), 0.25, "b", 1),
    ]


def test_languages_without_a_common_case_are_left_out() -> None:
    """There is nothing to say of one language, or of two that share no case."""
    for others in ({}, {"node": {"b": rows(1.0)}}):
        assert not list(language_differences("cpu", {"ruby": {"a": rows(1.0)}, **others}))
