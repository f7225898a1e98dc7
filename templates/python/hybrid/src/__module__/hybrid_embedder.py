"""Turn texts into dense, sparse and multi-vector embeddings at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .contract import DIMENSION
from .model import WINDOW, Model, checked_texts
from .session import Vectors
from .sparse_vector import SparseVector


class HybridEmbedding(NamedTuple):
    """A text's dense vector, its sparse vector, and the vectors of its tokens."""

    #: ``[dimension]``.
    dense: Vectors
    #: Of each token id the largest weight.
    sparse: SparseVector
    #: A row for each token but the first: ``[rows, token_dimension]``.
    multi_vector: Vectors


class HybridEmbedder(Model):
    """A model file that gives a text a dense vector, a sparse one, and one for each token."""

    #: Elements of a dense vector.
    dimension = DIMENSION

    def embed(self, texts: Iterable[str]) -> list[HybridEmbedding]:
        """Embed texts in all three ways, in one pass, in their order.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        given, session = checked_texts(texts), self._opened()
        found: list[HybridEmbedding] = []
        for start in range(0, len(given), WINDOW):
            rows = session.tokenize(given[start : start + WINDOW])
            for ids, (dense, weights, vectors) in zip(rows, session.results(rows), strict=True):
                found.append(HybridEmbedding(dense, _sparse(ids[1:], weights[:, 0]), vectors))
        return found

    def dense(self, texts: Iterable[str]) -> Vectors:
        """The dense vectors alone: ``[texts, dimension]``."""
        return np.array([one.dense for one in self.embed(texts)], np.float32).reshape(-1, DIMENSION)

    def sparse(self, texts: Iterable[str]) -> list[SparseVector]:
        """The sparse vectors alone."""
        return [one.sparse for one in self.embed(texts)]

    def multi_vector(self, texts: Iterable[str]) -> list[Vectors]:
        """The vectors of tokens alone: ``[rows, token_dimension]`` of each text."""
        return [one.multi_vector for one in self.embed(texts)]


def _sparse(ids: Sequence[int], weights: Vectors) -> SparseVector:
    """The largest weight of each token id, without those that are 0."""
    indices, places = np.unique(np.asarray(ids, np.uint32), return_inverse=True)
    values = np.zeros(len(indices), np.float32)
    np.maximum.at(values, places, weights)
    kept = values > 0
    return SparseVector(indices[kept], values[kept])
