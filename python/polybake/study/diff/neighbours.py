"""Do two files find the same neighbours, alone and with their vectors mixed in one index?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.manifest import Manifest
from polybake.base.modelfile.tolerance import Embeddings, Float64
from polybake.study.diff.search_vectors import SearchVectors

#: How many neighbours of each text are compared, without the text itself.
NEAREST = 10

#: The most texts that serve as queries; of more texts, evenly spaced ones.
_QUERIES = 1000


@dataclass(frozen=True)
class Neighbours:
    """How far two files agree on which texts are near each other.

    Each share is the fraction of a text's ten nearest that the first file finds, too, in the mean
    over texts.

    Attributes:
        texts: How many texts were searched.
        alone: The share with queries and texts of the second file.
        rank_correlation: Spearman's, of a text's similarities to all others, in the mean.
        old_index: The share with queries of the second file and texts of the first; None if their
            vectors cannot be compared.
        shared_index: The same with every second text of the second file: an index that grew.
        shares: The shares of the queries behind ``together``, or else behind ``alone``.
    """

    texts: int
    alone: float
    rank_correlation: float
    old_index: float | None
    shared_index: float | None
    shares: tuple[float, ...]

    @property
    def together(self) -> float | None:
        """The smaller of the two shares with vectors of both files."""
        if self.old_index is None or self.shared_index is None:
            return None
        return min(self.old_index, self.shared_index)


def compare_neighbours(
    vectors: SearchVectors, before: Manifest, after: Manifest, *, comparable: bool
) -> Neighbours | None:
    """Search the texts with each file, and with both together; None if there are too few texts.

    A mixed search takes the first file's similarity, with the dot product for the cosine of
    vectors of length 1, as an index may.
    """
    if len(vectors) <= NEAREST:
        return None
    manifests = (before, after)
    old, new = map(_numbers, vectors.arrays("document"), manifests)
    old_queries, new_queries = map(_numbers, vectors.arrays("query"), manifests)
    places = np.linspace(0, len(old) - 1, min(_QUERIES, len(old))).astype(int)
    expected = _similarities(old_queries, old, before.similarity, places)
    result = _similarities(new_queries, new, after.similarity, places)
    alone = _shares(expected, result)
    meeting = []
    if comparable:
        mixture = np.where((np.arange(len(old)) % 2 == 0)[:, np.newaxis], old, new)
        similarity = _stored(before.similarity, old)
        meeting = [
            _shares(expected, _similarities(new_queries, index, similarity, places))
            for index in (old, mixture)
        ]
    means = [float(shares.mean()) for shares in meeting]
    correlations = [_correlation(*rows) for rows in zip(expected, result, strict=True)]
    return Neighbours(
        len(old),
        float(alone.mean()),
        float(np.mean(correlations)),
        means[0] if means else None,
        means[1] if means else None,
        tuple(map(float, meeting[int(np.argmin(means))] if means else alone)),
    )


def _numbers(vectors: Embeddings, manifest: Manifest) -> Float64:
    """Return float64; bits become 1 and -1: their dot product falls with the Hamming distance."""
    if manifest.contract.output.packed_bits:
        signed = vectors.astype(np.int16) + (128 if vectors.dtype == np.int8 else 0)
        bits = np.unpackbits(signed.astype(np.uint8), axis=1)
        return bits.astype(np.float64) * 2 - 1
    middle = 128 if vectors.dtype == np.uint8 else 0
    return vectors.astype(np.float64) - middle


def _similarities(
    queries: Float64, texts: Float64, similarity: str, places: NDArray[np.intp]
) -> Float64:
    """Return ``[queries, texts - 1]``, without the query's own text; larger is nearer."""
    queries = queries[places]
    if similarity == "cosine":
        queries, texts = _directions(queries), _directions(texts)
    scores = queries @ texts.T
    if similarity == "euclidean":
        scores = 2 * scores - np.sum(texts**2, axis=1)  # without the query's own length
    mask = np.ones(scores.shape, bool)
    mask[np.arange(len(places)), places] = False
    result: Float64 = scores[mask].reshape(len(places), -1)
    return result


def _stored(similarity: str, vectors: Float64) -> str:
    """Return an index's similarity: for vectors of length 1 the dot product is the cosine."""
    unit = np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    return "dot" if similarity == "cosine" and unit else similarity


def _directions(vectors: Float64) -> Float64:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Float64 = vectors / np.where(norms > 0, norms, 1.0)
    return unit


def _shares(expected: Float64, result: Float64) -> Float64:
    """Return each query's share of the 10 nearest texts in ``result`` that ``expected`` has too.

    A text counts if it is as near as the tenth in ``expected``, so ties may replace each other.
    """
    nearest = np.argpartition(-result, NEAREST - 1, axis=1)[:, :NEAREST]
    tenth = -np.partition(-expected, NEAREST - 1, axis=1)[:, NEAREST - 1, np.newaxis]
    hit = np.take_along_axis(np.where(np.isnan(result), np.nan, expected), nearest, axis=1) >= tenth
    share: Float64 = np.mean(hit, axis=1, dtype=np.float64)
    return share


def _correlation(expected: Float64, result: Float64) -> float:
    """Return Spearman's rank correlation; 0 if only one side has all similarities equal."""
    first, second = _ranks(expected), _ranks(result)
    spread = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / spread if spread else float(np.array_equal(first, second))


def _ranks(numbers: Float64) -> Float64:
    """Return each number's rank less the mean rank; equal numbers share their mean rank."""
    _, inverse, times = np.unique(numbers, return_inverse=True, return_counts=True)
    last = np.cumsum(times)
    return (last - (times - 1) / 2)[inverse] - (len(numbers) + 1) / 2
