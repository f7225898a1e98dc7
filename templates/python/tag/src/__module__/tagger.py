"""Find spans of texts."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .arguments import Rows
from .contract import CONTRACT, Vectors
from .model import Model, windows
from .session import Session
from .words import Chunk, chunks_of, windows_of, words_of

_SETTINGS = CONTRACT["settings"]
_LABELS: list[str] = _SETTINGS["labels"]
_ROOM: int = _SETTINGS["room"]

#: How the scores of a word's tokens become the word's: the first token's, their mean, or those of
#: the token that is surest.
Aggregation = Literal["first", "mean", "max"]

#: Of the tokens of one text, or of a part of it: ``[tokens, labels]``.
TokenScores = Vectors


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a text that stand together: ``text`` is what ``start`` and ``end`` cut out of it."""

    label: str
    score: float
    text: str
    start: int
    end: int


class Tagger(Model):
    """A model file that finds names, or whatever its labels are, in texts."""

    _noun = "tagger"

    @property
    def labels(self) -> tuple[str, ...]:
        """What a token may be, in the order of ``scores``."""
        return tuple(_LABELS)

    def tag(self, texts: Iterable[str], *, aggregation: Aggregation = "first") -> list[list[Span]]:
        """Find the spans of texts; a text of any length goes through the model in parts.

        Args:
            texts: a list, or whatever gives texts one after another.
            aggregation: how the scores of a word's tokens become the word's.

        Returns:
            The spans of each text in their order, whose scores are the mean of their words'.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        checked, way = self._checked(texts), checked_aggregation(aggregation)
        session = self._session()
        return [spans for window in windows(checked) for spans in _tagged(session, window, way)]

    def scores(self, texts: Iterable[str]) -> list[TokenScores]:
        """The scores of each text's tokens, truncated, without special ones: ``[tokens, labels]``."""
        return list(self._vectors(texts, None))

    def tokenize(self, texts: Iterable[str]) -> list[list[int]]:
        """Token ids of each text, truncated, not padded."""
        return self._tokenize(texts, None)

    def score_ids(self, rows: Rows) -> list[TokenScores]:
        """Run rows of token ids as one batch, padded to the longest: of each what ``scores`` gives.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
        """
        return list(self._run(rows, None))


def checked_aggregation(aggregation: Aggregation) -> Aggregation:
    """A way to make one score of several."""
    known: tuple[Aggregation, ...] = get_args(Aggregation)
    if aggregation not in known:
        raise ValueError(
            f'unknown aggregation "{aggregation!s:.80}"; choose one of: {", ".join(known)}'
        )
    return aggregation


def _tagged(session: Session, texts: Sequence[str], aggregation: Aggregation) -> list[list[Span]]:
    chunked = chunks_of(session.tokenizer, texts, _ROOM)
    found = list(zip(texts, chunked, strict=True))
    parts = [part for text, chunks in found for part in _parts(text, chunks)]
    scores = iter(session.vectors(session.tokenize(parts, None), None))
    return [_spans(text, chunks, scores, aggregation) for text, chunks in found]


def _parts(text: str, chunks: Sequence[Chunk]) -> Iterator[str]:
    for first, last in windows_of(chunks, _ROOM):
        yield text[chunks[first].start : chunks[last - 1].end]


def _spans(
    text: str, chunks: Sequence[Chunk], scores: Iterator[TokenScores], aggregation: Aggregation
) -> list[Span]:
    """Neighbours whose best labels have one name make a span, unless one begins or ends between."""
    spans: list[list[tuple[int, int, float]]] = []
    names: list[str] = []
    ended = True
    for start, end, rows in _words(chunks, scores):
        row = _aggregated(rows.astype(np.float64), aggregation)
        best = int(row.argmax())
        mark = _SETTINGS["marks"][best]
        if ended or mark["begins"] or mark["name"] != names[-1]:
            names.append(mark["name"])
            spans.append([])
        spans[-1].append((start, end, float(row[best])))
        ended = mark["ends"]
    return [
        Span(name, float(np.mean([score for *_, score in words])), text[start:end], start, end)
        for name, words in zip(names, spans, strict=True)
        for start, end in [(words[0][0], words[-1][1])]
        if name
    ]


def _words(
    chunks: Sequence[Chunk], scores: Iterator[TokenScores]
) -> Iterator[tuple[int, int, TokenScores]]:
    """The words of a text; of what two windows share, each gives the half that is further within.

    A word that is longer than a piece is one in each.
    """
    windows = windows_of(chunks, _ROOM)
    middles = [chunks[(one.last + other.first + 1) // 2].first for one, other in pairwise(windows)]
    done = 0
    for window, behind in zip(windows, [*middles, math.inf], strict=False):
        rows = next(scores)
        for start, end, first, last in words_of(chunks[window.first : window.last], len(rows)):
            if start < behind and end > done:
                yield max(start, done), end, rows[first:last]
                done = end


def _aggregated(scores: NDArray[np.float64], aggregation: Aggregation) -> NDArray[np.float64]:
    """A word's scores: ``[labels]``."""
    if aggregation == "mean":
        mean: NDArray[np.float64] = scores.mean(axis=0)
        return mean
    surest: NDArray[np.float64] = scores[scores.max(axis=1).argmax()]
    return surest if aggregation == "max" else scores[0]
