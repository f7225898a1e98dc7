"""Turn texts into sparse embeddings."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .arguments import Rows, checked_prompt, checked_text
from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT
from .model import Model
from .sparse_vector import SparseVector, checked_vector, sparse
from .top import checked_top


class TokenWeight(NamedTuple):
    """A token of a vector, and how much the text is about it."""

    token: str
    weight: float


class SparseEmbedder(Model):
    """A model file that gives each text a weight for each token that it is about."""

    _noun = "embedder"

    @property
    def dimension(self) -> int:
        """Elements of one embedding, those that are 0 among them: one for each token id."""
        return DIMENSION

    @property
    def prompts(self) -> Mapping[str, str]:
        """Prompt texts by name."""
        return MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> list[SparseVector]:
        """Embed texts with a prompt, or with the model's default one.

        Args:
            texts: a list, or whatever gives texts one after another.
            prompt: a name in ``prompts``.

        Returns:
            The vector of each text, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            UnknownPromptError: the model has no such prompt.
        """
        return self._sparse(texts, checked_prompt(prompt))

    def embed_query(self, text: str) -> SparseVector:
        """Embed one search query, with the model's query prompt."""
        return self._sparse([checked_text(text)], QUERY_PROMPT)[0]

    def embed_queries(self, texts: Iterable[str]) -> list[SparseVector]:
        """Embed search queries, with the model's query prompt."""
        return self._sparse(texts, QUERY_PROMPT)

    def embed_documents(self, texts: Iterable[str]) -> list[SparseVector]:
        """Embed documents, with the model's document prompt."""
        return self._sparse(texts, DOCUMENT_PROMPT)

    def tokens(self, vector: SparseVector, *, top: int | None = None) -> list[TokenWeight]:
        """Name the tokens of a vector, heaviest first, equal ones in the order of their ids.

        Args:
            vector: what ``embed`` gave; its indices and values may have become lists.
            top: how many tokens; all of them where it is not given.

        Returns:
            Tokens as the tokenizer has them, such as ``##ing``; an id without one is an empty
            string.

        Raises:
            TypeError, ValueError: no such vector, or one that this model cannot have given.
        """
        indices, values = checked_vector(vector)
        heaviest = np.lexsort((indices, -values))[: checked_top(top, len(indices))]
        name, chosen = self._session().tokenizer.id_to_token, indices[heaviest].tolist()
        return [
            TokenWeight(name(index) or "", weight)
            for index, weight in zip(chosen, values[heaviest].tolist(), strict=True)
        ]

    def tokenize(self, texts: Iterable[str], *, prompt: str | None = None) -> list[list[int]]:
        """Token ids of each text with its prompt, truncated, not padded."""
        return self._tokenize(texts, checked_prompt(prompt))

    def embed_ids(self, rows: Rows, *, prompt: str | None = None) -> list[SparseVector]:
        """Run rows of token ids as one batch, padded to the longest.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
            UnknownPromptError: the model has no such prompt.
        """
        return [sparse(vector) for vector in self._run(rows, checked_prompt(prompt))]

    def _sparse(self, texts: Iterable[str], prompt: str | None) -> list[SparseVector]:
        """Drop each window's zeros before the next one: those of all would fill memory."""
        coming = self._each_window(texts, prompt)
        return [sparse(vector) for vectors in coming for vector in vectors]
