"""The labels of words, and the spans that they make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from polybake.baking.tasks.spans import AGGREGATIONS, Mark, WordRows, aggregated, mark_of, spans_of


@pytest.mark.parametrize(
    ("label", "mark"),
    [
        ("O", Mark("", begins=False, ends=False)),
        ("B-PER", Mark("PER", begins=True, ends=False)),
        ("I-PER", Mark("PER", begins=False, ends=False)),
        ("L-PER", Mark("PER", begins=False, ends=True)),
        ("E-PER", Mark("PER", begins=False, ends=True)),
        ("U-PER", Mark("PER", begins=True, ends=True)),
        ("S-B-7\n", Mark("B-7\n", begins=True, ends=True)),
        ("NOUN", Mark("NOUN", begins=False, ends=False)),
        ("B-", Mark("B-", begins=False, ends=False)),
        ("b-per", Mark("b-per", begins=False, ends=False)),
        ("", Mark("", begins=False, ends=False)),
    ],
)
def test_what_labels_mean(label: str, mark: Mark) -> None:
    """BIO, BILOU and BIOES, and any other label is what it says."""
    assert mark_of(label) == mark


def found_in(labels: Sequence[str], words: Sequence[str]) -> list[tuple[str, int, int]]:
    """The spans of words that surely have these labels, each a word of one character."""
    rows = np.eye(len(labels))[[labels.index(word) for word in words]]
    given = [WordRows(n, n + 1, row[None]) for n, row in enumerate(rows)]
    spans = spans_of([mark_of(label) for label in labels], given, "first")
    return [(span.label, span.start, span.end) for span in spans]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("O B-P I-P O", [("P", 1, 3)]),
        ("B-P B-P I-P", [("P", 0, 1), ("P", 1, 3)]),
        ("I-P I-P I-L", [("P", 0, 2), ("L", 2, 3)]),
        ("B-P I-P L-P I-P", [("P", 0, 3), ("P", 3, 4)]),
        ("U-P U-P I-L", [("P", 0, 1), ("P", 1, 2), ("L", 2, 3)]),
        ("N N O N B-P", [("N", 0, 2), ("N", 3, 4), ("P", 4, 5)]),
        ("O O", []),
        ("", []),
    ],
)
def test_words_make_spans(words: str, expected: list[tuple[str, int, int]]) -> None:
    """Neighbouring words of one name make a span, unless a label begins or ends between them."""
    labels = ["O", "B-P", "I-P", "L-P", "U-P", "I-L", "N"]
    assert found_in(labels, words.split()) == expected


def test_ways_to_aggregate() -> None:
    """A word takes its first token's scores, the mean, or those of its surest token."""
    rows = np.array([[0.6, 0.3, 0.1], [0.0, 0.9, 0.1], [0.5, 0.4, 0.1]])
    assert [*AGGREGATIONS] == ["first", "mean", "max"]
    assert aggregated(rows, "first").tolist() == [0.6, 0.3, 0.1]
    assert aggregated(rows, "mean") == pytest.approx([1.1 / 3, 1.6 / 3, 0.1])
    assert aggregated(rows, "max").tolist() == [0.0, 0.9, 0.1]
    marks = [mark_of(label) for label in ("A", "B", "C")]
    labels = [
        span.label for way in AGGREGATIONS for span in spans_of(marks, [WordRows(0, 1, rows)], way)
    ]
    assert labels == ["A", "B", "B"]
