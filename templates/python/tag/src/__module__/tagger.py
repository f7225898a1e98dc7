"""Find spans of texts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from .contract import SETTINGS
from .model import WINDOW, Model, checked_texts
from .session import Vectors
from .words import Word, check_tokens, words_of

#: How the scores of a word's tokens become the word's: the first token's, their mean, or those of
#: the token that is surest.
Aggregation = Literal["first", "mean", "max"]


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

    #: What a token may be, in the order of the model's scores.
    labels: tuple[str, ...] = tuple(SETTINGS["labels"])

    def tag(self, texts: Iterable[str], *, aggregation: Aggregation = "first") -> list[list[Span]]:
        """Find the spans of texts, in their order; a span's score is the mean of its words'.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: a text has more tokens than the model takes; give it in parts.
        """
        if aggregation not in ("first", "mean", "max"):
            raise ValueError(f'aggregation is "{aggregation}"; expected first, mean or max')
        given, tokenizer = checked_texts(texts), self._opened().tokenizer
        windows = (given[start : start + WINDOW] for start in range(0, len(given), WINDOW))
        known = chain.from_iterable(words_of(tokenizer, cut, SETTINGS["room"]) for cut in windows)
        found: list[list[Span]] = []
        for text, (words, tokens), scores in zip(given, known, self._each(given), strict=True):
            check_tokens(text, tokens, len(scores))
            found.append(_spans(text, words, scores, aggregation))
        return found


def _spans(
    text: str, words: Sequence[Word], scores: Vectors, aggregation: Aggregation
) -> list[Span]:
    """Neighbours whose best labels have one name make a span, unless one begins or ends between."""
    spans: list[tuple[str, list[tuple[Word, float]]]] = []
    ended = True
    for word in words:
        tokens = scores[word.first : word.last].astype(np.float64)
        surest = tokens[tokens.max(axis=1).argmax()]
        row = {"first": tokens[0], "mean": tokens.mean(axis=0), "max": surest}[aggregation]
        best = int(row.argmax())
        mark = SETTINGS["marks"][best]
        if ended or mark["begins"] or mark["name"] != spans[-1][0]:
            spans.append((mark["name"], []))
        spans[-1][1].append((word, float(row[best])))
        ended = mark["ends"]
    return [
        Span(name, float(np.mean([score for _, score in found])), text[start:end], start, end)
        for name, found in spans
        for start, end in [(found[0][0].start, found[-1][0].end)]
        if name
    ]
