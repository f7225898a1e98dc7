"""What a text gets in one pass."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .contract import Vectors
from .outputs import Parts


class SparseVector(NamedTuple):
    """The tokens that a text is about, and how much; every other element of its vector is 0."""

    #: Token ids, ascending.
    indices: NDArray[np.uint32]
    #: Their weights, as many.
    values: NDArray[np.float32]


class HybridEmbedding(NamedTuple):
    """A text's dense vector, its sparse vector, and the vectors of its tokens."""

    #: ``[dimension]``.
    dense: Vectors
    #: Of each token id the largest weight.
    sparse: SparseVector
    #: A row for each token but the first: ``[rows, token_dimension]``.
    multi_vector: Vectors
    #: The weight of each of these tokens, one by one: ``[rows]``.
    token_weights: Vectors


def embedding(ids: Sequence[int], parts: Parts) -> HybridEmbedding:
    """What the graph gives for a row of token ids; its first token has no weight and no row."""
    weights = parts.weights[:, 0]
    return HybridEmbedding(parts.dense, sparse(ids[1:], weights), parts.vectors, weights)


def sparse(ids: Sequence[int], weights: Vectors) -> SparseVector:
    """The largest weight of each token id, without those that are 0."""
    indices, places = np.unique(np.asarray(ids, np.uint32), return_inverse=True)
    values = np.zeros(len(indices), np.float32)
    np.maximum.at(values, places, weights)
    kept = values > 0
    return SparseVector(indices[kept], values[kept])
