"""Compare values with golden values; docs/tolerances.md gives the reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from polybake.base.modelfile.record import Record

#: float32, int8 or uint8 ``[texts, dimension]``.
Embeddings = NDArray[np.number[Any]]


class Tolerance(Record):
    """How far a client's vector may lie from the golden one, for every row and element."""

    max_abs: float = Field(description="Largest absolute difference of one element.")
    one_minus_cosine: float = Field(description="Largest 1 - cosine of one row.")


#: Source: docs/tolerances.md, "Limits".
TOLERANCES: dict[str, Tolerance] = {
    "cpu": Tolerance(max_abs=1e-5, one_minus_cosine=1e-6),
    "cuda": Tolerance(max_abs=2e-5, one_minus_cosine=1e-6),
}


@dataclass(frozen=True)
class Slack:
    """How far elements may differ; only elements whose unquantized value is at an edge may.

    Attributes:
        values: uint8 ``[texts, dimension]``: by how many steps each element may differ; for
            packed bits, which of its bits may.
        packed_bits: Whether an element is eight bits rather than an integer.
    """

    values: NDArray[np.uint8]
    packed_bits: bool

    @classmethod
    def between(cls, lowest: Embeddings, highest: Embeddings, *, packed_bits: bool) -> Self:
        """Return the slack of golden embeddings that may lie anywhere between two others."""
        return cls(_distance(lowest, highest, packed_bits=packed_bits), packed_bits)

    @classmethod
    def of_rows(cls, parts: Sequence[Self | None]) -> Self | None:
        """Concatenate the slack of several cases; None if they have no slack."""
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return cls(np.concatenate([part.values for part in known]), known[0].packed_bits)

    @property
    def largest(self) -> float:
        """The largest of `differences` that is no fault."""
        none = np.zeros_like(self.values)
        return float(np.max(differences(none, self.values, packed_bits=self.packed_bits)))

    def exceeded(self, golden: Embeddings, vectors: Embeddings) -> NDArray[np.bool_]:
        """Return which elements differ by more than they may."""
        distance = _distance(golden, vectors, packed_bits=self.packed_bits)
        return (distance & ~self.values) > 0 if self.packed_bits else distance > self.values


def differences(
    golden: Embeddings, vectors: Embeddings, *, packed_bits: bool
) -> NDArray[np.float64]:
    """Return by how much each element differs; for packed bits, in how many bits."""
    if not packed_bits:
        return np.abs(vectors.astype(np.float64) - golden.astype(np.float64))
    distance = _distance(golden, vectors, packed_bits=True)
    bits = np.unpackbits(distance[..., np.newaxis], axis=-1)
    counts: NDArray[np.float64] = np.sum(bits, axis=-1, dtype=np.float64)
    return counts


def _distance(a: Embeddings, b: Embeddings, *, packed_bits: bool) -> NDArray[np.uint8]:
    """Return the steps between two integers; for packed bits, the bits that differ."""
    if packed_bits:
        return np.bitwise_xor(a.view(np.uint8), b.view(np.uint8))
    return np.abs(a.astype(np.int16) - b.astype(np.int16)).astype(np.uint8)


Float64 = NDArray[np.float64]

#: The largest difference of an element, relative to the vector's length (1 if normalised).
#: Source: docs/tolerances.md, "Limits".
LIMIT = TOLERANCES["cpu"].max_abs


#: A row of up to this many elements holds scores, not a direction.
_NUMBERS = 2


@dataclass(frozen=True)
class Difference:
    """A difference from the golden answer: its message, row, element and size."""

    message: str
    row: int | None = None
    element: int | None = None
    difference: float | None = None
    limit: float | None = None


def compare_ids(
    golden: Sequence[Sequence[int]], rows: Sequence[Sequence[int]]
) -> Difference | None:
    """Compare token ids exactly; return the first difference."""
    if len(rows) != len(golden):
        return Difference(f"{len(rows)} rows of ids, expected {len(golden)}")
    for row, (expected, ids) in enumerate(zip(golden, rows, strict=True)):
        for position, (want, got) in enumerate(zip(expected, ids, strict=False)):
            if want != got:
                message = f"row {row}, position {position}: id {got}, expected {want}"
                return Difference(message, row=row, element=position)
        if len(ids) != len(expected):
            return Difference(f"row {row}: {len(ids)} ids, expected {len(expected)}", row=row)
    return None


def relative_difference(
    vectors: Embeddings, expected: Embeddings, *, probabilities: bool = False
) -> float:
    """Return the largest difference of an element, relative to the expected row's L2 norm.

    Returns:
        NaN if either holds NaN; 0 without rows.
    """
    # In float32 the squares of a norm would overflow, or vanish, long before the elements do.
    vectors, expected = vectors.astype(np.float64), expected.astype(np.float64)
    norms = np.linalg.norm(expected, axis=-1, keepdims=True)
    if probabilities or expected.shape[-1] <= _NUMBERS:
        norms = np.maximum(norms, 1.0)
    relative = np.abs(vectors - expected) / np.where(norms > 0, norms, 1.0)
    return float(np.max(relative, initial=0.0))


def largest_difference(
    golden: Embeddings, vectors: Embeddings, slack: Slack | None = None
) -> float:
    """Return the largest absolute difference of an element; 0 without rows. Both are finite.

    For packed bits it is the largest number of bits of an element that differ.
    """
    packed_bits = slack is not None and slack.packed_bits
    return float(np.max(differences(golden, vectors, packed_bits=packed_bits), initial=0.0))


def compare_vectors(
    golden: Embeddings, vectors: Embeddings, tolerance: Tolerance, slack: Slack | None = None
) -> Difference | None:
    """Compare every row and element; return the worst difference beyond the tolerance."""
    if slack is not None:
        return _compare_integers(golden, vectors, slack)
    expected, actual = golden.astype(np.float64), vectors.astype(np.float64)
    odd = np.argwhere(~np.isfinite(actual))
    if odd.size:
        row, element = map(int, odd[0])
        message = f"row {row}, element {element}: {actual[row, element]} is not a finite number"
        return Difference(message, row=row, element=element)
    norms = np.linalg.norm(expected, axis=1)
    limits = tolerance.max_abs * np.maximum(norms, 1.0)
    return _compare_elements(expected, actual, limits) or _compare_directions(
        expected, actual, norms, tolerance
    )


def _compare_integers(golden: Embeddings, actual: Embeddings, slack: Slack) -> Difference | None:
    exceeded = np.argwhere(slack.exceeded(golden, actual))
    if not exceeded.size:
        return None
    row, element = map(int, exceeded[0])
    return Difference(
        f"row {row}, element {element}: {actual[row, element]}, expected {golden[row, element]}; "
        f"{len(exceeded)} elements differ by more than rounding",
        row=row,
        element=element,
    )


def _compare_elements(expected: Float64, actual: Float64, limits: Float64) -> Difference | None:
    distances = np.abs(actual - expected)
    if np.all(distances <= limits[:, np.newaxis]):
        return None
    worst = np.argmax(distances / limits[:, np.newaxis])
    row, element = map(int, np.unravel_index(worst, distances.shape))
    difference, limit = float(distances[row, element]), float(limits[row])
    return Difference(
        f"row {row}, element {element}: difference {difference:.3g} exceeds {limit:.3g}",
        row=row,
        element=element,
        difference=difference,
        limit=limit,
    )


def _compare_directions(
    expected: Float64, actual: Float64, norms: Float64, tolerance: Tolerance
) -> Difference | None:
    directed = norms > tolerance.max_abs
    lengths = norms * np.linalg.norm(actual, axis=1)
    cosines = np.sum(expected * actual, axis=1) / np.where(lengths > 0.0, lengths, 1.0)
    distances = np.where(directed, 1.0 - cosines, 0.0)
    if np.all(distances <= tolerance.one_minus_cosine):
        return None
    row = int(np.argmax(distances))
    difference, limit = float(distances[row]), tolerance.one_minus_cosine
    return Difference(
        f"row {row}: 1 - cosine {difference:.3g} exceeds {limit:.3g}",
        row=row,
        difference=difference,
        limit=limit,
    )
