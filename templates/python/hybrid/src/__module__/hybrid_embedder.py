"""Turn texts into dense, sparse and multi-vector embeddings at once."""

from collections.abc import Iterable, Iterator

import numpy as np

from .arguments import Rows, checked_rows
from .contract import CONTRACT, DIMENSION, Vectors
from .hybrid_embedding import HybridEmbedding, SparseVector, embedding
from .model import Model, windows


class HybridEmbedder(Model):
    """A model file that gives a text a dense vector, a sparse one, and one for each token."""

    _noun = "embedder"

    @property
    def dimension(self) -> int:
        """Elements of a dense vector."""
        return DIMENSION

    @property
    def token_dimension(self) -> int:
        """Elements of a token's vector."""
        return int(CONTRACT["further_outputs"][1]["dimension"])

    def embed(self, texts: Iterable[str]) -> list[HybridEmbedding]:
        """Embed texts in all three ways, in one pass.

        Args:
            texts: a list, or whatever gives texts one after another.

        Returns:
            The embedding of each text, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        return list(self._each(texts))

    def dense(self, texts: Iterable[str]) -> Vectors:
        """The dense vectors alone: ``[texts, dimension]``."""
        none = np.empty((0, DIMENSION), np.float32)
        return np.vstack([none, *(one.dense for one in self._each(texts))])

    def sparse(self, texts: Iterable[str]) -> list[SparseVector]:
        """The sparse vectors alone."""
        return [one.sparse for one in self._each(texts)]

    def multi_vector(self, texts: Iterable[str]) -> list[Vectors]:
        """The vectors of tokens alone: ``[rows, token_dimension]`` of each text."""
        return [one.multi_vector for one in self._each(texts)]

    def tokenize(self, texts: Iterable[str]) -> list[list[int]]:
        """Token ids of each text, truncated, not padded."""
        return self._tokenize(texts, None)

    def embed_ids(self, rows: Rows) -> list[HybridEmbedding]:
        """Run rows of token ids as one batch, padded to the longest: of each what ``embed`` gives.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
        """
        return list(map(embedding, checked_rows(rows), self._run(rows, None)))

    def _each(self, texts: Iterable[str]) -> Iterator[HybridEmbedding]:
        checked, session = self._checked(texts), self._session()
        for window in windows(checked):
            rows = session.tokenize(window, None)
            yield from map(embedding, rows, session.vectors(rows, None))
