"""Turn texts into embeddings."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from .arguments import Rows, checked_prompt, checked_text
from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT, Vectors
from .model import Model

#: ``[texts, dimension]``.
Embeddings = Vectors


class Embedder(Model):
    """A model file that gives embeddings."""

    _noun = "embedder"

    @property
    def dimension(self) -> int:
        """Elements of one embedding."""
        return DIMENSION

    @property
    def prompts(self) -> Mapping[str, str]:
        """Prompt texts by name."""
        return MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> Embeddings:
        """Embed texts with a prompt, or with the model's default one.

        Args:
            texts: a list, or whatever gives texts one after another.
            prompt: a name in ``prompts``.

        Returns:
            ``[texts, dimension]``, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            UnknownPromptError: the model has no such prompt.
        """
        return self._vectors(texts, checked_prompt(prompt))

    def embed_query(self, text: str) -> Embeddings:
        """Embed one search query, with the model's query prompt: ``[dimension]``."""
        vector: Embeddings = self._vectors([checked_text(text)], QUERY_PROMPT)[0]
        return vector

    def embed_queries(self, texts: Iterable[str]) -> Embeddings:
        """Embed search queries, with the model's query prompt: ``[texts, dimension]``."""
        return self._vectors(texts, QUERY_PROMPT)

    def embed_documents(self, texts: Iterable[str]) -> Embeddings:
        """Embed documents, with the model's document prompt: ``[texts, dimension]``."""
        return self._vectors(texts, DOCUMENT_PROMPT)

    def tokenize(self, texts: Iterable[str], *, prompt: str | None = None) -> list[list[int]]:
        """Token ids of each text with its prompt, truncated, not padded."""
        return self._tokenize(texts, checked_prompt(prompt))

    def embed_ids(self, rows: Rows, *, prompt: str | None = None) -> Embeddings:
        """Run rows of token ids as one batch, padded to the longest: ``[rows, dimension]``.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
            UnknownPromptError: the model has no such prompt.
        """
        return self._run(rows, checked_prompt(prompt))
