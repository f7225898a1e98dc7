"""Turn texts into embeddings of their tokens."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from .arguments import Rows, checked_prompt, checked_text
from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT
from .model import Model
from .token_embeddings import TokenEmbeddings, checked_embeddings


class MultiVectorEmbedder(Model):
    """A model file that gives a vector for each token of a text, for late interaction.

    Queries and documents are embedded differently; without a prompt a text is a document.
    """

    _noun = "embedder"

    @property
    def dimension(self) -> int:
        """Elements of one row of a text."""
        return DIMENSION

    @property
    def prompts(self) -> Mapping[str, str]:
        """Prompt texts by name."""
        return MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> list[TokenEmbeddings]:
        """Embed texts with a prompt, or with the model's default one.

        Args:
            texts: a list, or whatever gives texts one after another.
            prompt: a name in ``prompts``.

        Returns:
            The rows of each text, float32 ``[rows, dimension]``, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            UnknownPromptError: the model has no such prompt.
        """
        return list(self._vectors(texts, checked_prompt(prompt)))

    def embed_query(self, text: str) -> TokenEmbeddings:
        """Embed one search query, with the model's query prompt: ``[rows, dimension]``."""
        rows: TokenEmbeddings = self._vectors([checked_text(text)], QUERY_PROMPT)[0]
        return rows

    def embed_queries(self, texts: Iterable[str]) -> list[TokenEmbeddings]:
        """Embed search queries, with the model's query prompt."""
        return list(self._vectors(texts, QUERY_PROMPT))

    def embed_documents(self, texts: Iterable[str]) -> list[TokenEmbeddings]:
        """Embed documents, with the model's document prompt."""
        return list(self._vectors(texts, DOCUMENT_PROMPT))

    @staticmethod
    def max_sim(
        query: TokenEmbeddings | Sequence[Sequence[float]],
        document: TokenEmbeddings | Sequence[Sequence[float]],
    ) -> float:
        """The relevance of a document to a query: the larger, the more.

        Args:
            query: what ``embed_query`` gave, or the same as lists.
            document: what ``embed_documents`` gave for one document, or the same as lists.

        Returns:
            The sum over the query's rows of the largest dot product with a row of the document;
            0 where that has no rows.

        Raises:
            TypeError, ValueError: no such rows, or of another dimension.
        """
        asked = checked_embeddings("query", query)
        found = checked_embeddings("document", document)
        return float((asked @ found.T).max(axis=1).sum()) if len(found) else 0.0

    def tokenize(self, texts: Iterable[str], *, prompt: str | None = None) -> list[list[int]]:
        """Token ids of each text with its prompt, truncated, not padded."""
        return self._tokenize(texts, checked_prompt(prompt))

    def embed_ids(self, rows: Rows, *, prompt: str | None = None) -> list[TokenEmbeddings]:
        """Run rows of token ids as one batch, padded to the longest: of each what ``embed`` gives.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
            UnknownPromptError: the model has no such prompt.
        """
        return list(self._run(rows, checked_prompt(prompt)))
