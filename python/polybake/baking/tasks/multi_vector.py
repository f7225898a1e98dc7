"""A vector for each token of a text, compared token by token."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.base.modelfile.tolerance import Embeddings
from polybake.errors import InputError


class MultiVector(Task):
    """Late interaction: gives rows for each text; rows of a query and a text give a relevance.

    Source: sentence-transformers ``MultiVectorEncoder``, PyLate ``ColBERT``.
    """

    name: ClassVar[str] = "multi-vector"
    output: ClassVar[str] = "token_embeddings"
    by_token: ClassVar[bool] = True
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source is saved as a model of many vectors a text."""
        return source.saved_as == "MultiVectorEncoder"

    def recipe(self, source: Source) -> Recipe:
        """Return the steps that the source lists."""
        if not self.fits(source):
            raise InputError(
                f"{source.folder.path}: gives no vector for each token; expected a folder of "
                "sentence-transformers' MultiVectorEncoder or of PyLate"
            )
        return source.recipe

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts; the call asks for the relevance of each text to the first text."""
        return {"texts": [*texts]}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return how many rows each text has, and its relevance to the first text as a query."""
        texts = outputs.rows
        return [{"rows": len(text), "max_sim": max_sim(texts[0], text)} for text in texts]


def max_sim(query: Embeddings, document: Embeddings) -> float:
    """Sum, over the query's rows, the largest product with a row of the document.

    Source: sentence-transformers ``maxsim``.
    """
    products: NDArray[np.float64] = query.astype(np.float64) @ document.astype(np.float64).T
    return float(products.max(axis=1, initial=-np.inf).sum()) if len(document) else 0.0
