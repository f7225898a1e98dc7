"""Find spans of texts for any labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .arguments import checked_texts
from .contract import CONTRACT, DIMENSION, Vectors
from .labels import checked_labels
from .model import windows
from .pair_model import PairModel
from .session import Session
from .tokens import Pair, Tokens, Word, prompt_ids, room_beside, row_of, words_of

_SETTINGS = CONTRACT["settings"]
_MOST_WORDS: int = _SETTINGS["most_words"]
_MARKS: tuple[str, str] = _SETTINGS["before_label"], _SETTINGS["before_text"]

#: Scores in memory at a time: 64 MiB.
_SCORES = 2**24

#: Of a prompt and a text: a row for each word and label, the labels of the first word first. They
#: are the probabilities of the spans of 1, 2, … words that begin there: ``[words * labels, longest]``.
SpanScores = Vectors


@dataclass(frozen=True, slots=True)
class Span:
    """Words of a text that stand together: ``text`` is what ``start`` and ``end`` cut out of it."""

    label: str
    score: float
    text: str
    start: int
    end: int


class Window(NamedTuple):
    """Words that go through the model at once, ``words[first:last]``.

    The spans that begin at ``words[begin:end]`` are taken from it.
    """

    first: int
    last: int
    begin: int
    end: int


class ZeroShotTagger(PairModel):
    """A model file that finds spans of texts for any labels."""

    _noun = "tagger"

    def tag(
        self, texts: Iterable[str], labels: Sequence[str], *, threshold: float = 0.5
    ) -> list[list[Span]]:
        """Find the spans of texts; a text of any length goes through the model in parts.

        Args:
            texts: a list, or whatever gives texts one after another.
            labels: what a span may be.
            threshold: the probability that a span must exceed, from 0 to 1.

        Returns:
            The spans of each text in their order. No two share a word: the better one is taken.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: the labels leave no room for a text.
        """
        asked, least = checked_labels(labels), _checked_threshold(threshold)
        checked, session = checked_texts(texts), self._session()
        prompt = prompt_ids(session.tokenizer, label_prompt(asked))
        return [
            [
                Span(asked[label], score, text[start:end], start, end)
                for score, first, last, label in best
                for start, end in [(words[first].start, words[last - 1].end)]
            ]
            for window in windows(checked)
            for text, words, best in _tagged(session, prompt, window, len(asked), least)
        ]

    def span_scores(self, pairs: Iterable[Pair]) -> list[SpanScores]:
        """The scores of all spans of each text, truncated, for the labels of the prompt beside it."""
        return list(self.score_pairs(pairs))

    def span_ids(self, rows: Sequence[Tokens]) -> list[SpanScores]:
        """Run rows of tokens as one batch, padded to the longest: of each what ``span_scores`` gives.

        Raises:
            InvalidIdsError: the model does not have such ids or types, or so many in a row.
        """
        return list(self.score_ids(rows))


def label_prompt(labels: Sequence[str]) -> str:
    """The prompt that names labels, the first text of a pair."""
    before_label, before_text = _MARKS
    for place, label in enumerate(checked_labels(labels)):
        for mark in _MARKS:
            if mark in label:
                raise ValueError(f"labels[{place}] holds {mark}, which parts labels; leave it out")
    return "".join(before_label + label for label in labels) + before_text


def windows_of(sizes: Sequence[int], room: int) -> list[Window]:
    """Cut words of so many tokens into windows, so that each span lies whole in one of them.

    A word with more tokens than there is room stands alone.
    """
    cut: list[tuple[int, int]] = []
    first = last = 0
    while last < len(sizes):
        last, tokens = first, 0
        while last < min(len(sizes), first + _MOST_WORDS) and (
            last == first or tokens + sizes[last] <= room
        ):
            tokens += sizes[last]
            last += 1
        cut.append((first, last))
        first = max(first + 1, last - 2 * DIMENSION)
    begins = [0, *((one[1] + other[0] + 1) // 2 for one, other in pairwise(cut)), len(sizes)]
    return [Window(*one, *taken) for one, taken in zip(cut, pairwise(begins), strict=bool(cut))]


_Placed = tuple[float, int, int, int]


def _tagged(
    session: Session, prompt: Sequence[int], texts: Sequence[str], labels: int, least: float
) -> Iterator[tuple[str, list[Word], list[_Placed]]]:
    """Each text with its words and its best spans: score, first word, word behind, label."""
    room = room_beside(prompt)
    found = [
        (text, words, windows_of([len(word.ids) for word in words], room))
        for text, words in zip(texts, words_of(session.tokenizer, texts), strict=True)
    ]
    parts = [(place, one) for place, (_, _, cut) in enumerate(found) for one in cut]
    spans: list[list[_Placed]] = [[] for _ in found]
    most = max(1, _SCORES // (_MOST_WORDS * labels * DIMENSION))
    for group in (parts[start : start + most] for start in range(0, len(parts), most)):
        rows = [row_of(prompt, found[place][1][one.first : one.last]) for place, one in group]
        for (place, one), scores in zip(group, session.vectors(rows, None), strict=True):
            spans[place] += _above(scores, one, labels, least)
    for (text, words, _), own in zip(found, spans, strict=True):
        yield text, words, _best(own, len(words))


def _above(scores: SpanScores, window: Window, labels: int, least: float) -> Iterator[_Placed]:
    """The spans of a window with more than the least score."""
    by_word = scores.astype(np.float64).reshape(-1, labels, DIMENSION)
    for word, label, more in np.argwhere(by_word > least).tolist():
        begin = window.first + word
        if window.begin <= begin < window.end:
            yield float(by_word[word, label, more]), begin, begin + more + 1, label


def _best(spans: Sequence[_Placed], words: int) -> list[_Placed]:
    """The best span, then the best of those that share no word with it, and so on."""
    taken, kept = [False] * words, list[_Placed]()
    for span in sorted(spans, key=lambda one: (-one[0], *one[1:])):
        _, first, last, _ = span
        if not any(taken[first:last]):
            taken[first:last] = [True] * (last - first)
            kept.append(span)
    return sorted(kept, key=lambda one: one[1])


def _checked_threshold(threshold: float) -> float:
    number = isinstance(threshold, (int, float)) and not isinstance(threshold, bool)
    if not number or not 0 <= threshold <= 1:
        raise ValueError(f"threshold is {threshold!r:.80}; expected a number from 0 to 1")
    return float(threshold)
