"""Do two files find the same texts near each other, and do their vectors go together?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.compare import Float64
from polybake.base.modelfile.manifest import Manifest
from polybake.base.modelfile.slack import Embeddings
from polybake.study.diff.search_vectors import SearchVectors

#: Neighbours of each text, the text itself left out.
NEAREST = 10

#: Texts that look for their neighbours among all; more are taken from all places alike.
_QUERIES = 1000


@dataclass(frozen=True)
class Neighbours:
    """How far two files agree on what is near.

    Each share is the mean over texts of how many of the ten nearest are also the first file's.

    Attributes:
        texts: How many were searched.
        alone: Queries and texts by the second file.
        rank_correlation: Spearman's, of a text's similarities to all others, in the mean.
        old_index: Queries by the second file, texts by the first; None where their vectors do not
            fit each other.
        shared_index: The same, with every second text by the second file, too: an index that grew.
        shares: Of each query, where the least is found together; else ``alone``.
    """

    texts: int
    alone: float
    rank_correlation: float
    old_index: float | None
    shared_index: float | None
    shares: tuple[float, ...]

    @property
    def together(self) -> float | None:
        """The smaller share of those where vectors of both files meet."""
        if self.old_index is None or self.shared_index is None:
            return None
        return min(self.old_index, self.shared_index)


def compare_neighbours(
    vectors: SearchVectors, before: Manifest, after: Manifest, *, comparable: bool
) -> Neighbours | None:
    """Search among the texts by each file, and by both together.

    Args:
        vectors: Of both files.
        before, after: Whose similarity is taken; where vectors meet, the first one's, and of
            vectors of length 1 their dot product, which an index may have in its place.
        comparable: Whether the vectors of one may be compared with those of the other.

    Returns:
        None where texts are too few to have ten neighbours.
    """
    if len(vectors) <= NEAREST:
        return None
    old, new = (_numbers(one, before) for one in vectors.arrays("document"))
    asked, asks = (_numbers(one, before) for one in vectors.arrays("query"))
    places = np.linspace(0, len(old) - 1, min(_QUERIES, len(old))).astype(int)
    expected = _similarities(asked, old, before.similarity, places)
    found = _similarities(asks, new, after.similarity, places)
    alone = _shares(expected, found)
    meeting = []
    if comparable:
        shared = np.where((np.arange(len(old)) % 2 == 0)[:, np.newaxis], old, new)
        similarity = _stored(before.similarity, old)
        meeting = [
            _shares(expected, _similarities(asks, index, similarity, places))
            for index in (old, shared)
        ]
    means = [float(shares.mean()) for shares in meeting]
    correlations = [_correlation(*rows) for rows in zip(expected, found, strict=True)]
    return Neighbours(
        len(old),
        float(alone.mean()),
        float(np.mean(correlations)),
        means[0] if means else None,
        means[1] if means else None,
        tuple(map(float, meeting[int(np.argmin(means))] if means else alone)),
    )


def _numbers(vectors: Embeddings, manifest: Manifest) -> Float64:
    """As float64; bits as 1 and -1, whose dot product falls as their Hamming distance grows."""
    if manifest.contract.output.packed_bits:
        signed = vectors.astype(np.int16) + (128 if vectors.dtype == np.int8 else 0)
        bits = np.unpackbits(signed.astype(np.uint8), axis=1)
        return bits.astype(np.float64) * 2 - 1
    middle = 128 if vectors.dtype == np.uint8 else 0
    return vectors.astype(np.float64) - middle


def _similarities(
    queries: Float64, texts: Float64, similarity: str, places: NDArray[np.intp]
) -> Float64:
    """``[queries, texts - 1]``, the text itself left out; more is nearer."""
    queries = queries[places]
    if similarity == "cosine":
        queries, texts = _directions(queries), _directions(texts)
    found = queries @ texts.T
    if similarity == "euclidean":
        found = 2 * found - np.sum(texts**2, axis=1)  # without the query's own length
    others = np.ones(found.shape, bool)
    others[np.arange(len(places)), places] = False
    kept: Float64 = found[others].reshape(len(places), -1)
    return kept


def _stored(similarity: str, vectors: Float64) -> str:
    """What an index may compare by: of vectors of length 1 a dot product is the cosine, too."""
    unit = np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    return "dot" if similarity == "cosine" and unit else similarity


def _directions(vectors: Float64) -> Float64:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Float64 = vectors / np.where(norms > 0, norms, 1.0)
    return unit


def _shares(expected: Float64, found: Float64) -> Float64:
    """How many of the nearest are no farther, by what is expected, than its own tenth.

    So texts that are equally near may stand for each other.
    """
    nearest = np.argpartition(-found, NEAREST - 1, axis=1)[:, :NEAREST]
    tenth = -np.partition(-expected, NEAREST - 1, axis=1)[:, NEAREST - 1, np.newaxis]
    kept = np.take_along_axis(np.where(np.isnan(found), np.nan, expected), nearest, axis=1) >= tenth
    share: Float64 = np.mean(kept, axis=1, dtype=np.float64)
    return share


def _correlation(expected: Float64, found: Float64) -> float:
    """Spearman's; 0 where one of them tells no text from another, and the other one does."""
    one, other = _ranks(expected), _ranks(found)
    spread = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / spread if spread else float(np.array_equal(one, other))


def _ranks(numbers: Float64) -> Float64:
    """Of each number, less their mean; equal ones have the mean of their places."""
    _, place, times = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return (last - (times - 1) / 2)[place] - (len(numbers) + 1) / 2
