"""Labels for the words of texts, and spans made of them."""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.head import checked_labels, needed_head, trained_head
from polybake.baking.tasks.spans import AGGREGATIONS, Mark, WordRows, mark_of, spans_of
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.baking.tasks.text_words import NumberRows, fitting, room, word_settings, words_of
from polybake.baking.tokenizer.words import Chunk
from polybake.base.modelfile.fixture import Text

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
        """Return the model's head, the softmax, and the rows without special tokens."""
        needed_head(source, _PURPOSE, _KIND)
        first, last = source.tokenizer.special_tokens
        return (
            {"step": HEAD},
            {"step": "activation", "function": "softmax"},
            {"step": "leave_out_ends", "first": first, "last": last},
            {"step": "unpad"},
        )

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return the labels, the meaning of each for a word, and where words end."""
        labels = checked_labels(source, columns, _PURPOSE, _KIND)
        special = source.tokenizer.special_tokens
        return {
            "labels": [*labels],
            "marks": [mark_of(label)._asdict() for label in labels],
            "special": [*special],
            **word_settings(source, sum(special), finest=False),
        }

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:
        """Return each text, or the beginning that a row holds: clients refuse longer ones."""
        return tuple(fitting(text, known.chunks, room(known.settings)) for text in texts)

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue]:
        """Return all texts as one call, with every aggregation."""
        values: list[JsonValue] = [*cast(tuple[str, ...], self.texts(texts, known))]
        return {"texts": values, "aggregations": [*AGGREGATIONS]}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return the spans of each text, for each aggregation."""
        marks = [
            Mark(**mark) for mark in cast(list[dict[str, Any]], outputs.known.settings["marks"])
        ]
        texts = [
            (text, _words(outputs.known.chunks(text), rows))
            for text, rows in zip(cast(list[str], outputs.call["texts"]), outputs.rows, strict=True)
        ]
        return [
            [
                [span._asdict() | {"text": text[span.start : span.end]} for span in spans]
                for text, words in texts
                for spans in [[*spans_of(marks, words, aggregation)]]
            ]
            for aggregation in AGGREGATIONS
        ]


def _words(chunks: Sequence[Chunk], rows: NumberRows) -> list[WordRows]:
    """Return the words of a text, each with the graph's rows of its tokens."""
    words = words_of(chunks, len(rows))
    return [WordRows(word.start, word.end, rows[word.first : word.last]) for word in words]
