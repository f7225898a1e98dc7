"""How well documents answer a query."""

from typing import ClassVar

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.head import LABELS, LOGITS, needed_head, trained_head
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut
from polybake.errors import InputError

#: A query for documents of which one alone fills a row.
_QUERY = "When is the lock open?"
#: The last document of every golden case, so that there is an order and one document is short.
_DOCUMENT = "The lock is closed at night."


class Rerank(Task):
    """Gives the relevance of each document to a query, one number per pair.

    Source: sentence-transformers ``CrossEncoder.rank``.
    """

    name: ClassVar[str] = "rerank"
    output: ClassVar[str] = "scores"
    head: ClassVar[HeadKind | None] = LABELS
    hub_tag: ClassVar[str] = "text-ranking"
    cut: ClassVar[Cut | None] = "longest_first"

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:
        """Pair the first text, as the query, with each text and with one more document."""
        query = _query(texts, known)
        return tuple((query, document) for document in (*texts, _DOCUMENT))

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue]:
        """Return the query and its documents."""
        return {"query": _query(texts, known), "documents": [*texts, _DOCUMENT]}

    def fits(self, source: Source) -> bool:
        """Return whether the source has a head with one number."""
        if trained_head(source, LOGITS) is not None:
            return True
        head = trained_head(source)
        if head is None or len(head.labels) != 1:
            return False
        if head.scores is None and not head.of_pairs:
            raise InputError(
                f"{source.folder.path}: has one label, and its problem_type is regression, so it "
                'scores pairs or texts; for pairs say task = "rerank", which applies a sigmoid; '
                'for single texts say task = "classify" and name the label in labels'
            )
        return True

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head, and the activation that makes a relevance of its number."""
        kind = LABELS if trained_head(source, LOGITS) is None else LOGITS
        relevance = needed_head(source, "rerank documents", kind).relevance
        steps = () if relevance == "identity" else ({"step": "activation", "function": relevance},)
        return ({"step": HEAD}, *steps)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return no settings; check that there is one number per pair."""
        if columns != 1:
            pairs = source.head is not None and source.head.of_pairs
            single = '; where its rows are single texts, say task = "classify"'
            raise InputError(
                f"{source.folder.path}: the steps give {columns} numbers of a pair, expected one; "
                f"choose one with the step select{'' if pairs else single}"
            )
        return {}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return the documents' places with scores, best first; equal scores in their order."""
        scores = outputs.vectors[:, 0]
        return [
            {"index": int(index), "score": float(scores[index])}
            for index in np.argsort(-scores, kind="stable")
        ]


def _query(texts: tuple[str, ...], known: Known) -> str:
    """The first text, unless it is not cut and leaves no room for a document."""
    return next((text for text in (texts[0], _QUERY) if known.room(text) > 0), "")
