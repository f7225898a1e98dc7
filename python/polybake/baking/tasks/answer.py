"""Answers to questions, as spans of a text."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple, cast

from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.head import needed_head, trained_head
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.baking.tasks.text_words import NumberRows, fitting, room, word_settings, words_of
from polybake.baking.tokenizer.pairs import pair_of
from polybake.baking.tokenizer.words import Chunk
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut

_KIND: HeadKind = "ForQuestionAnswering"

#: The question of golden cases, short enough for any model, and how many answers they want.
_QUESTION = "Where?"
_TOP = 3


class Span(NamedTuple):
    """An answer by its place in the text; an empty span means that there is no answer."""

    score: float
    start: int
    end: int


class Answer(Task):
    """Gives each span of a text a probability to answer a question; clients take the best spans.

    Source: transformers ``QuestionAnsweringPipeline``.
    """

    name: ClassVar[str] = "answer"
    output: ClassVar[str] = "spans"
    head: ClassVar[HeadKind | None] = _KIND
    hub_tag: ClassVar[str] = "question-answering"
    cut: ClassVar[Cut | None] = "only_second"
    seeks: ClassVar[bool] = True
    probabilities: ClassVar[bool] = True
    by_token: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source has a head with a beginning and an end for each token."""
        return trained_head(source, _KIND) is not None

    def recipe(self, source: Source) -> Recipe:
        """Return three steps: the model's trained head, ``spans`` and ``unpad``."""
        needed_head(source, "answer questions", _KIND)
        return ({"step": HEAD}, {"step": "spans"}, {"step": "unpad"})

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:  # noqa: ARG002
        """Return where words end, and how many tokens a question and a text may have together."""
        pair = pair_of(source.tokenizer.untruncated, "right")
        special = sum(piece.text is None for piece in pair.pieces)
        return {"special": [0, 0], **word_settings(source, special, finest=True)}

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:
        """Pair the question with each text that has words, or the beginning that a row holds."""
        passages = _with_words(texts, known) or [_fitting(text, known) for text in texts]
        return tuple((_QUESTION, text) for text in passages)

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue] | None:
        """Return one question for all texts; with several texts, "no answer" is allowed."""
        contexts: list[JsonValue] = [*_with_words(texts, known)]
        if not contexts:
            return None
        return {
            "question": _QUESTION,
            "contexts": contexts,
            "top": _TOP,
            "no_answer": len(contexts) > 1,
        }

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return the best answers in each text."""
        result: list[JsonValue] = []
        for text, rows in zip(cast(list[str], outputs.call["contexts"]), outputs.rows, strict=True):
            no_answer = bool(outputs.call["no_answer"])
            best = best_spans(outputs.known.chunks(text), rows, no_answer=no_answer)[:_TOP]
            result.append([span._asdict() | {"text": text[span.start : span.end]} for span in best])
        return result


def best_spans(chunks: Sequence[Chunk], rows: NumberRows, *, no_answer: bool) -> list[Span]:
    """Return spans of whole words, best first; among equal scores the first span leads.

    A span has the best score of all tokens that begin and end in its words.

    Source: transformers ``QuestionAnsweringPipeline``, ``select_starts_ends`` and
    ``get_indices``.
    """
    scores: dict[tuple[int, int], float] = {}
    words = {
        token: word
        for word in words_of(chunks, len(rows) - 1)
        for token in range(word.first, word.last)
    }
    for token, first in words.items():
        for offset, score in enumerate(rows[1 + token].tolist()):
            last = words.get(token + offset)
            if last is not None:
                span = first.start, last.end
                scores[span] = max(score, scores.get(span, 0.0))
    if no_answer:
        scores[0, 0] = float(rows[0, 0])
    spans = (Span(score, *bounds) for bounds, score in scores.items())
    return sorted(spans, key=lambda span: (-span.score, span.start, span.end))


def _with_words(texts: Sequence[str], known: Known) -> list[str]:
    cut = [_fitting(text, known) for text in texts]
    return [text for text in cut if any(chunk.words for chunk in known.chunks(text))]


def _fitting(text: str, known: Known) -> str:
    return fitting(text, known.chunks, _held(known))


def _held(known: Known) -> int:
    """Return how many tokens the question leaves for a text."""
    return room(known.settings) - sum(chunk.tokens for chunk in known.chunks(_QUESTION))
