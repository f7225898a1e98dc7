"""A weight for each token of the vocabulary, which shows what a text is about."""

from typing import ClassVar

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.head import needed_head
from polybake.baking.tasks.task import Known, Outputs, Task

#: The most tokens of each text in a golden answer.
_TOP = 8


class Sparse(Task):
    """Gives sparse embeddings: most weights are 0; clients return the others with their places.

    Source: sentence-transformers ``SparseEncoder``.
    """

    name: ClassVar[str] = "sparse"
    output: ClassVar[str] = "sparse_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source is saved as a SparseEncoder, not as a mere language model."""
        return source.saved_as == "SparseEncoder"

    def recipe(self, source: Source) -> Recipe:
        """Return the steps that the source lists, or the steps for a masked language model.

        Source: sentence-transformers ``SparseEncoder._load_default_modules``.
        """
        if self.fits(source):
            return source.recipe
        needed_head(source, "weigh tokens", "ForMaskedLM")
        return ({"step": HEAD}, {"step": "splade"})

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts; the call asks for each text's tokens with the largest weights."""
        return {"texts": [*texts], "top": _TOP}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return each text's tokens by name with their weights above 0, largest first."""
        return [
            [
                {"token": outputs.known.token(int(index)), "score": float(row[index])}
                for index in np.argsort(-row, kind="stable")[:_TOP]
                if row[index] > 0
            ]
            for row in outputs.vectors
        ]
