"""How well documents answer a query."""

from typing import ClassVar

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.head import needed_head, trained_head
from polybake.baking.tasks.task import Found, Known, Task
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut
from polybake.errors import InputError

#: Stands behind the documents of every golden case, so that there is an order, and one is short.
_DOCUMENT = "The lock is closed at night."


class Rerank(Task):
    """The relevance of each document to a query, one number a pair.

    Source: sentence-transformers ``CrossEncoder.rank``.
    """

    name: ClassVar[str] = "rerank"
    output: ClassVar[str] = "scores"
    hub_tag: ClassVar[str] = "text-ranking"
    cut: ClassVar[Cut | None] = "longest_first"

    def texts(self, texts: tuple[str, ...], _: Known) -> tuple[Text, ...]:
        """The first text as the query, with each of all and one more as a document."""
        return tuple((texts[0], document) for document in (*texts, _DOCUMENT))

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """The same as one query and its documents."""
        return {"query": texts[0], "documents": [*texts, _DOCUMENT]}

    def fits(self, source: Source) -> bool:
        """It was, where its head has one number.

        Raises:
            InputError: nothing says whether that number is of a pair: transformers' pipeline gives
                that of a text as it is, and CrossEncoder that of a pair behind a sigmoid.
        """
        head = trained_head(source)
        if head is None or len(head.labels) != 1:
            return False
        if head.scores is None and not head.of_pairs:
            raise InputError(
                f"{source.folder.path}: has one label, and its problem_type is regression, so its "
                'number is of a pair or of a text; say task = "rerank" for pairs, whose number '
                'goes through a sigmoid, or task = "classify" with a label, for texts\' as it is'
            )
        return True

    def recipe(self, source: Source) -> Recipe:
        """The model's head, and what makes a relevance of its number.

        Raises:
            InputError: the model has no such head.
        """
        relevance = needed_head(source, "rerank documents").relevance
        made = () if relevance == "identity" else ({"step": "activation", "function": relevance},)
        return ({"step": HEAD}, *made)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Nothing, but that there is one number a pair.

        Raises:
            InputError: there are several.
        """
        if columns != 1:
            pairs = source.head is not None and source.head.of_pairs
            single = '; where its rows are single texts, say task = "classify"'
            raise InputError(
                f"{source.folder.path}: the steps give {columns} numbers of a pair, expected one; "
                f"choose one with the step select{'' if pairs else single}"
            )
        return {}

    def answer(self, found: Found) -> JsonValue:
        """The documents' places with their scores, best first; equal ones in their order."""
        scores = found.vectors[:, 0]
        return [
            {"index": int(place), "score": float(scores[place])}
            for place in np.argsort(-scores, kind="stable")
        ]
