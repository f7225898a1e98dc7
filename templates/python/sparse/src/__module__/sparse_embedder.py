"""Turn texts into sparse embeddings."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT
from .model import Model, checked_prompt, checked_text
from .ranking import best, check_top
from .sparse_vector import SparseVector


class TokenWeight(NamedTuple):
    """A token of a vector, and how much the text is about it."""

    token: str
    weight: float


class SparseEmbedder(Model):
    """A model file that gives each text a weight for each token that it is about."""

    #: Elements of one embedding, those that are 0 among them: one for each token id.
    dimension = DIMENSION
    #: Prompt texts by name.
    prompts: Mapping[str, str] = MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> list[SparseVector]:
        """Embed texts, with a prompt or the model's default one, in their order.

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
        """Name the tokens of a vector as the tokenizer has them, heaviest first, at most ``top``."""
        check_top(top)
        name, (indices, values) = self._opened().tokenizer.id_to_token, map(np.asarray, vector)
        return [
            TokenWeight(name(int(indices[place])) or "", float(values[place]))
            for place in best(values, top)
        ]

    def _sparse(self, texts: Iterable[str], prompt: str | None) -> list[SparseVector]:
        """Drop each window's zeros before the next one: those of all would fill memory."""
        places = ((row, np.flatnonzero(row)) for row in self._each(texts, prompt))
        return [SparseVector(kept.astype(np.uint32), row[kept]) for row, kept in places]
