"""Spans that words make by their labels."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from polybake.baking.tasks.text_words import NumberRows

#: How the scores of a word's tokens become the word's.
AGGREGATIONS = ("first", "mean", "max")

#: BIO, BILOU and BIOES: where a span begins, goes on and ends.
_SCHEME = re.compile(r"([BILUES])-(.+)", re.DOTALL)
_OUTSIDE = "O"


class Mark(NamedTuple):
    """What a label says of a word.

    Attributes:
        name: Of the span; empty where the word is in none.
        begins: Whether a span begins with the word.
        ends: Whether it ends with it.
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
    """Words that stand together, and the mean of their scores."""

    label: str
    score: float
    start: int
    end: int


def mark_of(label: str) -> Mark:
    """What a label says of a word: by BIO, BILOU or BIOES, or plainly the span that it is in."""
    found = _SCHEME.fullmatch(label)
    if found is None:
        return Mark("" if label == _OUTSIDE else label, begins=False, ends=False)
    place, name = found.groups()
    return Mark(name, begins=place in "BUS", ends=place in "LUSE")


def spans_of(marks: Sequence[Mark], words: Sequence[WordRows], aggregation: str) -> Iterator[Span]:
    """The spans of a text, from the best label of each word.

    Neighbours with one name make a span, unless one begins or ends between them.

    Args:
        marks: Of each column.
        words: In their order.
        aggregation: One of `AGGREGATIONS`.

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
    """A word's scores, ``[labels]``: its first token's, the mean, or those of the surest token.

    Source: transformers ``TokenClassificationPipeline.aggregate_word``.
    """
    scores = rows.astype(np.float64)
    if aggregation == "mean":
        mean: NDArray[np.float64] = scores.mean(axis=0)
        return mean
    surest: NDArray[np.float64] = scores[scores.max(axis=1).argmax()]
    return scores[0] if aggregation == "first" else surest
