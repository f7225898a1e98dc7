"""Turn texts into dense, sparse and multi-vector embeddings at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from .contract import DIMENSION
from .model import Model
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
        return [
            HybridEmbedding(dense, _sparse(ids[1:], weights[:, 0]), vectors)
            for ids, dense, weights, vectors in self._each(texts)
        ]


def _sparse(ids: Sequence[int], weights: Vectors) -> SparseVector:
    """The largest weight of each token id, without those that are 0."""
    indices, places = np.unique(np.asarray(ids, np.uint32), return_inverse=True)
    values = np.zeros(len(indices), np.float32)
    np.maximum.at(values, places, weights)
    kept = values > 0
    return SparseVector(indices[kept], values[kept])
