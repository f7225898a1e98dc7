"""Turn texts into embeddings of their tokens."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT
from .model import Model, checked_prompt, checked_text
from .session import Vectors


class MultiVectorEmbedder(Model):
    """A model file that gives a vector for each token of a text, for late interaction.

    Queries and documents are embedded differently; without a prompt a text is a document.
    """

    #: Elements of one row of a text.
    dimension = DIMENSION
    #: Prompt texts by name.
    prompts: Mapping[str, str] = MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> list[Vectors]:
        """Embed texts, with a prompt or the model's default one: of each ``[rows, dimension]``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            UnknownPromptError: the model has no such prompt.
        """
        return list(self._each(texts, checked_prompt(prompt)))

    def embed_query(self, text: str) -> Vectors:
        """Embed one search query, with the model's query prompt: ``[rows, dimension]``."""
        return next(self._each([checked_text(text)], QUERY_PROMPT))

    def embed_queries(self, texts: Iterable[str]) -> list[Vectors]:
        """Embed search queries, with the model's query prompt."""
        return list(self._each(texts, QUERY_PROMPT))

    def embed_documents(self, texts: Iterable[str]) -> list[Vectors]:
        """Embed documents, with the model's document prompt."""
        return list(self._each(texts, DOCUMENT_PROMPT))

    @staticmethod
    def max_sim(
        query: Vectors | Sequence[Sequence[float]], document: Vectors | Sequence[Sequence[float]]
    ) -> float:
        """The relevance of a document to a query: the larger, the more.

        Args:
            query: what ``embed_query`` gave, or the same as lists.
            document: what ``embed_documents`` gave for one document, or the same as lists.

        Returns:
            The sum over the query's rows of the largest dot product with a row of the document;
            0 where that has no rows.
        """
        asked = np.asarray(query, np.float64).reshape(-1, DIMENSION)
        found = np.asarray(document, np.float64).reshape(-1, DIMENSION)
        return float((asked @ found.T).max(axis=1).sum()) if len(found) else 0.0
