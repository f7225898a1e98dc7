"""A weight for each token of the vocabulary that says what a text is about."""

from typing import ClassVar

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.head import needed_head
from polybake.baking.tasks.task import Found, Known, Task

#: How many of each text's tokens golden answers have.
_TOP = 8


class Sparse(Task):
    """Sparse embeddings: most weights are 0, and clients give the others with their places.

    Source: sentence-transformers ``SparseEncoder``.
    """

    name: ClassVar[str] = "sparse"
    output: ClassVar[str] = "sparse_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """It was, where its folder says so; many encoders have a masked language model, too."""
        return source.saved_as == "SparseEncoder"

    def recipe(self, source: Source) -> Recipe:
        """The steps that the source lists, or those of a masked language model.

        Raises:
            InputError: it lists none, and has no such head.

        Source: sentence-transformers ``SparseEncoder._load_default_modules``.
        """
        if self.fits(source):
            return source.recipe
        needed_head(source, "weigh tokens", "ForMaskedLM")
        return ({"step": HEAD}, {"step": "splade"})

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """The tokens of all texts that weigh most."""
        return {"texts": [*texts], "top": _TOP}

    def answer(self, found: Found) -> JsonValue:
        """Each text's tokens by name with their weights, the largest first, and none of 0."""
        return [
            [
                {"token": found.known.token(int(place)), "score": float(row[place])}
                for place in np.argsort(-row, kind="stable")[:_TOP]
                if row[place] > 0
            ]
            for row in found.vectors
        ]
