"""Spans of words, made from the words' labels."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polybake.baking.tasks.text_words import NumberRows

#: The ways to make a word's scores of its tokens' scores.
AGGREGATIONS = ("first", "mean", "max")

#: Labels of BIO, BILOU and BIOES, which mark where a span begins, goes on and ends.
_SCHEME = re.compile(r"([BILUES])-(.+)", re.DOTALL)
_OUTSIDE = "O"


class Mark(NamedTuple):
    """The meaning of a label for a word.

    Attributes:
        name: The span's name; empty if the word is in no span.
        begins: Whether a span begins with the word.
        ends: Whether a span ends with the word.
    """

    name: str
    begins: bool
    ends: bool


class WordRows(NamedTuple):
    """A word of a text and the scores of its tokens: ``[tokens, labels]``."""

    start: int
    end: int
    rows: NumberRows


class Span(NamedTuple):
    """A label for consecutive words, with the mean of their scores."""

    label: str
    score: float
    start: int
    end: int


def mark_of(label: str) -> Mark:
    """Return the meaning of a label: in BIO, BILOU or BIOES, or else as the name of a span."""
    match = _SCHEME.fullmatch(label)
    if match is None:
        return Mark("" if label == _OUTSIDE else label, begins=False, ends=False)
    prefix, name = match.groups()
    return Mark(name, begins=prefix in "BUS", ends=prefix in "LUSE")


def spans_of(marks: Sequence[Mark], words: Sequence[WordRows], aggregation: str) -> Iterator[Span]:
    """Yield the spans of a text, from the best label of each word.

    Neighbouring words with the same name form a span, unless a span begins or ends between them.

    Source: transformers ``TokenClassificationPipeline.group_entities``.
    """
    name, ended, start, end = "", True, 0, 0
    scores: list[float] = []
    for word in words:
        row = aggregated(word.rows, aggregation)
        best = int(row.argmax())
        mark = marks[best]
        if mark.name != name or mark.begins or ended:
            if name:
                yield Span(name, float(np.mean(scores)), start, end)
            name, start, scores = mark.name, word.start, []
        end, ended = word.end, mark.ends
        scores.append(float(row[best]))
    if name:
        yield Span(name, float(np.mean(scores)), start, end)


def aggregated(rows: NumberRows, aggregation: str) -> NDArray[np.float64]:
    """Return a word's scores, ``[labels]``: its first token's, its surest token's, or the mean.

    Source: transformers ``TokenClassificationPipeline.aggregate_word``.
    """
    scores = rows.astype(np.float64)
    if aggregation == "mean":
        mean: NDArray[np.float64] = scores.mean(axis=0)
        return mean
    surest: NDArray[np.float64] = scores[scores.max(axis=1).argmax()]
    return scores[0] if aggregation == "first" else surest
