"""Turn texts into embeddings."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from types import MappingProxyType

from .contract import DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT, VOCAB_SIZE
from .model import Model, checked_prompt, checked_text, checked_texts
from .session import Vectors, stacked


class Embedder(Model):
    """A model file that gives embeddings."""

    #: Elements of one embedding.
    dimension = DIMENSION
    #: Prompt texts by name.
    prompts: Mapping[str, str] = MappingProxyType(PROMPTS)

    def embed(self, texts: Iterable[str], *, prompt: str | None = None) -> Vectors:
        """Embed texts, with a prompt or the model's default one, in order: ``[texts, dimension]``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            UnknownPromptError: the model has no such prompt.
        """
        return stacked(self._each(texts, checked_prompt(prompt)))

    def embed_query(self, text: str) -> Vectors:
        """Embed one search query, with the model's query prompt: ``[dimension]``."""
        return next(self._each([checked_text(text)], QUERY_PROMPT))

    def embed_queries(self, texts: Iterable[str]) -> Vectors:
        """Embed search queries, with the model's query prompt: ``[texts, dimension]``."""
        return stacked(self._each(texts, QUERY_PROMPT))

    def embed_documents(self, texts: Iterable[str]) -> Vectors:
        """Embed documents, with the model's document prompt: ``[texts, dimension]``."""
        return stacked(self._each(texts, DOCUMENT_PROMPT))

    def tokenize(self, texts: Iterable[str], *, prompt: str | None = None) -> list[list[int]]:
        """Token ids of each text with its prompt, truncated, not padded."""
        return self._opened().tokenize(checked_texts(texts), checked_prompt(prompt))

    def embed_ids(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Run rows of token ids as one batch, padded to the longest: ``[rows, dimension]``."""
        for row in rows:
            if len(row) > self.max_length:
                raise ValueError(f"a row of {len(row)} ids; expected at most {self.max_length}")
            # onnxruntime takes a negative id for one counted from the table's end.
            for token in row:
                if not (isinstance(token, Integral) and 0 <= token < VOCAB_SIZE):
                    raise ValueError(f"id {token}: expected an integer from 0 to {VOCAB_SIZE - 1}")
        return stacked(self._opened().run(rows) if len(rows) else [])
