"""Spans of words for labels that are named with each text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.gliner import GLINER
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.head import needed_head, trained_head
from polybake.baking.tasks.task import Found, Known, Task
from polybake.baking.tasks.text_words import NumberRows
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut
from polybake.runtime.tokenization.label_prompt import LabelledWord, LabelPrompt

#: The labels of golden cases.
_LABELS = ("person", "\u03c0\u03cc\u03bb\u03b7 \U0001f307", "Stadt")


#: The probability that a span must exceed, and how near another score may be in golden answers.
_THRESHOLD, _NEAR = 0.5, 2e-5


class Window(NamedTuple):
    """Words that go through the model at once, and those whose spans are taken from it.

    Attributes:
        first, last: The places of its first word and behind its last one.
        begin, end: The places of the first word whose spans are taken, and behind the last one.
    """

    first: int
    last: int
    begin: int
    end: int


class PlacedSpan(NamedTuple):
    """The words ``words[first:last]`` of a text, and the place of their label."""

    score: float
    first: int
    last: int
    label: int


class ZeroShotTag(Task):
    """Gives each span of words a probability for each label; clients take the best spans.

    Source: gliner ``predict_entities``.
    """

    name: ClassVar[str] = "zero-shot-tag"
    output: ClassVar[str] = "span_scores"
    by_token: ClassVar[bool] = True
    hub_tag: ClassVar[str] = "token-classification"
    cut: ClassVar[Cut | None] = "only_second"
    seeks: ClassVar[bool] = True
    probabilities: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source has layers that score spans for labels."""
        return trained_head(source, GLINER) is not None

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head.

        Raises:
            InputError: The model has no such head.
        """
        needed_head(source, "find spans for labels that are named with a text", GLINER)
        return ({"step": HEAD},)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return how labels and a text are written, and how much a row holds."""
        prompt = source.pair_prompt
        if not isinstance(prompt, LabelPrompt):
            raise TypeError(f"{source.folder.path} has no labels")
        return {**asdict(prompt), "width": columns}

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:
        """Return the labels with each text, or with the parts of a long text."""
        prompt = _prompt(known)
        return tuple(
            (prompt, text[words[one.first].start : words[one.last - 1].end] if words else text)
            for text, words, cut in _cut(texts, known)
            for one in cut
        )

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts as one call, with its labels."""
        return {"texts": [*texts], "labels": [*_LABELS], "threshold": _THRESHOLD}

    def answer(self, found: Found) -> JsonValue:
        """Return the spans of each text; None where rounding could choose others."""
        rows, width = iter(found.rows), cast(int, found.known.settings["width"])
        labels, given = cast(list[str], found.call["labels"]), list[JsonValue]()
        for text, words, cut in _cut(cast(list[str], found.call["texts"]), found.known):
            spans = [
                span
                for one in cut
                for span in _above(next(rows).reshape(-1, len(labels), width), one)
            ]
            kept = best_spans(spans)
            if kept is None:
                return None
            given.append(
                [
                    {
                        "label": labels[span.label],
                        "score": span.score,
                        "start": (start := words[span.first].start),
                        "end": (end := words[span.last - 1].end),
                        "text": text[start:end],
                    }
                    for span in kept
                ]
            )
        return given


def windows(sizes: Sequence[int], room: int, most: int, width: int) -> list[Window]:
    """Cut a text into windows that share so many words that each span lies in one of them.

    Args:
        sizes: The tokens of each word.
        room: The most tokens of a window; a word with more stands alone.
        most: The most words of a window.
        width: The words of the longest span.
    """
    cut: list[tuple[int, int]] = []
    first = last = 0
    while not cut or last < len(sizes):
        last, tokens = first, 0
        while last < min(len(sizes), first + most) and (
            last == first or tokens + sizes[last] <= room
        ):
            tokens += sizes[last]
            last += 1
        cut.append((first, last))
        first = max(first + 1, last - 2 * width)
    begins = [0, *((one[1] + other[0] + 1) // 2 for one, other in pairwise(cut)), len(sizes)]
    return [
        Window(*one, begin, end) for one, (begin, end) in zip(cut, pairwise(begins), strict=True)
    ]


def best_spans(spans: Sequence[PlacedSpan]) -> list[PlacedSpan] | None:
    """Take the best span, then the best of those that share no word with it, and so on.

    Args:
        spans: Spans whose scores are near or above the threshold.

    Returns:
        The spans in the order of their words, or None if one was chosen by less than ``_NEAR``.

    Source: gliner ``BaseDecoder.greedy_search``.
    """
    kept: list[PlacedSpan] = []
    for span in sorted(spans, key=lambda one: (-one.score, one.first, one.last, one.label)):
        over = [one for one in kept if span.first < one.last and one.first < span.last]
        if any(one.score - span.score < _NEAR for one in over):
            return None
        if not over:
            kept.append(span)
    if any(abs(one.score - _THRESHOLD) < _NEAR for one in kept):
        return None
    return sorted(kept, key=lambda one: one.first)


def _above(scores: NumberRows, window: Window) -> Iterator[PlacedSpan]:
    """Yield the spans of a window that are taken from it: of ``[words, labels, width]``."""
    for first, label, more in np.argwhere(scores > _THRESHOLD - _NEAR).tolist():
        begin = window.first + first
        if window.begin <= begin < window.end:
            score = float(scores[first, label, more])
            yield PlacedSpan(score, begin, begin + more + 1, label)


def _prompt(known: Known) -> str:
    return _settings(known).prompt(_LABELS)


def _settings(known: Known) -> LabelPrompt:
    names = (field.name for field in fields(LabelPrompt))
    return LabelPrompt(**{name: cast(Any, known.settings[name]) for name in names})


def _cut(
    texts: Sequence[str], known: Known
) -> Iterator[tuple[str, list[LabelledWord], list[Window]]]:
    """Yield each text with its words and its windows."""
    room, most = known.room(_prompt(known)), _settings(known).most_words
    width = cast(int, known.settings["width"])
    for text, words in zip(texts, known.words(texts), strict=True):
        yield text, words, windows([len(word.ids) for word in words], room, most, width)
