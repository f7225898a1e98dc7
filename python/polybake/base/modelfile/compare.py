"""Compare values with golden values; docs/tolerances.md gives the reasons."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.fixture import TOLERANCES, Tolerance
from polybake.base.modelfile.slack import Embeddings, Slack, differences

Float64 = NDArray[np.float64]

#: The largest difference of an element, relative to the vector's length (1 if normalised).
#: Source: docs/tolerances.md, "Limits".
LIMIT = TOLERANCES["cpu"].max_abs


#: A row of up to this many elements holds scores, not a direction.
_NUMBERS = 2


@dataclass(frozen=True)
class Difference:
    """The place of a difference from the golden answer, and its size."""

    message: str
    row: int | None = None
    element: int | None = None
    difference: float | None = None
    limit: float | None = None


def compare_ids(
    golden: Sequence[Sequence[int]], found: Sequence[Sequence[int]]
) -> Difference | None:
    """Compare token ids exactly; return the first difference."""
    if len(found) != len(golden):
        return Difference(f"{len(found)} rows of ids, expected {len(golden)}")
    for row, (expected, ids) in enumerate(zip(golden, found, strict=True)):
        for position, (want, got) in enumerate(zip(expected, ids, strict=False)):
            if want != got:
                message = f"row {row}, position {position}: id {got}, expected {want}"
                return Difference(message, row=row, element=position)
        if len(ids) != len(expected):
            return Difference(f"row {row}: {len(ids)} ids, expected {len(expected)}", row=row)
    return None


def relative_difference(
    found: Embeddings, expected: Embeddings, *, probabilities: bool = False
) -> float:
    """Return the largest difference of an element, relative to the expected row's L2 norm.

    Returns:
        NaN if either holds NaN; 0 without rows.
    """
    # In float32 the squares of a norm would overflow, or vanish, long before the elements do.
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    norms = np.linalg.norm(expected, axis=-1, keepdims=True)
    if probabilities or expected.shape[-1] <= _NUMBERS:
        norms = np.maximum(norms, 1.0)
    relative = np.abs(found - expected) / np.where(norms > 0, norms, 1.0)
    return float(np.max(relative, initial=0.0))


def largest_difference(golden: Embeddings, found: Embeddings, slack: Slack | None = None) -> float:
    """Return the largest absolute difference of an element; 0 without rows. Both are finite.

    For packed bits it is the largest number of bits of an element that differ.
    """
    packed_bits = slack is not None and slack.packed_bits
    return float(np.max(differences(golden, found, packed_bits=packed_bits), initial=0.0))


def compare_vectors(
    golden: Embeddings, found: Embeddings, tolerance: Tolerance, slack: Slack | None = None
) -> Difference | None:
    """Compare every row and element; return the worst difference beyond the tolerance."""
    if slack is not None:
        return _compare_integers(golden, found, slack)
    expected, actual = golden.astype(np.float64), found.astype(np.float64)
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


def _compare_integers(golden: Embeddings, found: Embeddings, slack: Slack) -> Difference | None:
    exceeded = np.argwhere(slack.exceeded(golden, found))
    if not exceeded.size:
        return None
    row, element = map(int, exceeded[0])
    return Difference(
        f"row {row}, element {element}: {found[row, element]}, expected {golden[row, element]}; "
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
