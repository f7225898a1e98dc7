"""A vector for each token of a text, compared token by token."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.task import Found, Known, Task
from polybake.base.modelfile.slack import Embeddings
from polybake.errors import InputError


class MultiVector(Task):
    """Late interaction: the rows of each text, and the relevance of a text's rows to a query's.

    Source: sentence-transformers ``MultiVectorEncoder``, PyLate ``ColBERT``.
    """

    name: ClassVar[str] = "multi-vector"
    output: ClassVar[str] = "token_embeddings"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """It was, where its folder says so."""
        return source.saved_as == "MultiVectorEncoder"

    def recipe(self, source: Source) -> Recipe:
        """The steps that the source lists.

        Raises:
            InputError: it is no such model.
        """
        if not self.fits(source):
            raise InputError(
                f"{source.folder.path}: gives no vector for each token; expected a folder of "
                "sentence-transformers' MultiVectorEncoder or of PyLate"
            )
        return source.recipe

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """The relevance of each text to the first one."""
        return {"texts": [*texts]}

    def answer(self, found: Found) -> JsonValue:
        """How many rows each text has, and its relevance to the first text as a query."""
        texts = found.rows
        return [{"rows": len(text), "max_sim": max_sim(texts[0], text)} for text in texts]


def max_sim(query: Embeddings, document: Embeddings) -> float:
    """The sum over the query's rows of the largest product with a row of the document.

    Args:
        query: ``[rows, columns]``.
        document: The same; without a row it is 0.

    Source: sentence-transformers ``maxsim``.
    """
    products: NDArray[np.float64] = query.astype(np.float64) @ document.astype(np.float64).T
    return float(products.max(axis=1, initial=-np.inf).sum()) if len(document) else 0.0
