"""Labels for the words of texts, and spans made of them."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, cast

from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.head import checked_labels, needed_head, trained_head
from polybake.baking.tasks.spans import AGGREGATIONS, Mark, WordRows, mark_of, spans_of
from polybake.baking.tasks.task import Found, Known, Task
from polybake.baking.tasks.text_words import NumberRows, parts, room, word_settings, words_of
from polybake.base.modelfile.fixture import Text
from polybake.runtime.tokenization.windows import windows
from polybake.runtime.tokenization.words import Chunk

_KIND: HeadKind = "ForTokenClassification"
_PURPOSE = "tag words"


class Tag(Task):
    """Gives each token a probability for each label; clients make spans of words from them.

    Source: transformers ``TokenClassificationPipeline``.
    """

    name: ClassVar[str] = "tag"
    output: ClassVar[str] = "token_scores"
    head: ClassVar[HeadKind | None] = _KIND
    hub_tag: ClassVar[str] = "token-classification"
    labelled: ClassVar[bool] = True
    probabilities: ClassVar[bool] = True
    by_token: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source has a head with a number per label for each token."""
        return trained_head(source, _KIND) is not None

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head, the softmax, and the rows without special tokens.

        Raises:
            InputError: The model has no such head.
        """
        needed_head(source, _PURPOSE, _KIND)
        first, last = source.tokenizer.special_tokens
        return (
            {"step": HEAD},
            {"step": "activation", "function": "softmax"},
            {"step": "leave_out_ends", "first": first, "last": last},
            {"step": "unpad"},
        )

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return the labels, the meaning of each for a word, and where words end.

        Raises:
            InputError: There are not as many labels as columns, or a label occurs twice.
        """
        labels = checked_labels(source, columns, _PURPOSE, _KIND)
        special = source.tokenizer.special_tokens
        return {
            "labels": [*labels],
            "marks": [mark_of(label)._asdict() for label in labels],
            "special": [*special],
            **word_settings(source, sum(special), finest=False),
        }

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:
        """Return each text, or its parts if it is too long."""
        held = room(known.settings)
        return tuple(part for text in texts for part in parts(text, known.chunks(text, held), held))

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts as one call, with every aggregation."""
        return {"texts": [*texts], "aggregations": [*AGGREGATIONS]}

    def answer(self, found: Found) -> JsonValue:
        """Return the spans of each text, for each aggregation."""
        marks = [Mark(**mark) for mark in cast(list[dict[str, Any]], found.known.settings["marks"])]
        held, rows = room(found.known.settings), iter(found.rows)
        texts = [
            (text, [*_words(found.known.chunks(text, held), held, rows)])
            for text in cast(list[str], found.call["texts"])
        ]
        return [
            [
                [span._asdict() | {"text": text[span.start : span.end]} for span in spans]
                for text, words in texts
                for spans in [[*spans_of(marks, words, aggregation)]]
            ]
            for aggregation in AGGREGATIONS
        ]


def _words(found: Sequence[Chunk], held: int, rows: Iterator[NumberRows]) -> Iterator[WordRows]:
    """Yield the words of a text; each window gives its inner half of what two windows share.

    A word that is longer than a piece of its chunk becomes a word in each piece.

    Args:
        found: The text's chunks.
        held: Tokens of a window.
        rows: The graph's rows for each window; for one window if there is no chunk.
    """
    cut = windows(found, held)
    if not cut:
        next(rows)
        return
    middles = [found[(one.last + other.first + 1) // 2].first for one, other in pairwise(cut)]
    done = 0
    for window, behind in zip(cut, [*middles, found[-1].end], strict=True):
        given = next(rows)
        for word in words_of(found[window.first : window.last], len(given)):
            if word.start < behind and word.end > done:
                yield WordRows(max(word.start, done), word.end, given[word.first : word.last])
                done = word.end
