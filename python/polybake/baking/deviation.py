"""How far a graph of lower precision lies from the exact one, and from itself elsewhere."""

from collections.abc import Sequence

import numpy as np

from polybake.modelfile.fixture import DEVICES, TOLERANCES, Case, Tolerance, decode_vectors
from polybake.modelfile.manifest import Deviation
from polybake.modelfile.slack import Embeddings

#: Times what one other way of rounding changes: other texts, processors and versions differ more.
_ROOM = 3


def measure_deviation(exact: Sequence[Case], found: Sequence[Case]) -> Deviation:
    """Compare the vectors of the same cases, text by text.

    Args:
        exact: What the float32 graph gave.
        found: What the graph of lower precision gives.
    """
    golden = {case.id: decode_vectors(case.embeddings) for case in exact}
    pairs = [
        (golden[case.id], decode_vectors(case.embeddings)) for case in found if case.id in golden
    ]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return deviation(before, after)


def deviation(before: Embeddings, after: Embeddings) -> Deviation:
    """Compare ``[texts, dimension]`` row by row; a row of zeros has no direction."""
    before, after = before.astype(np.float64), after.astype(np.float64)
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = (before * after).sum(axis=1)[norms > 0] / norms[norms > 0]
    return Deviation(
        max_abs=float(np.abs(before - after).max()),
        mean_cosine=float(cosines.mean()),
        min_cosine=float(cosines.min()),
    )


def rounding_tolerances(other: Deviation) -> dict[str, Tolerance]:
    """How far clients may lie from an int8 graph's golden vectors.

    A number at the edge of two steps falls into either, as float32's rounding before it has it, and
    what follows falls otherwise, too. How much that is depends on the model.

    Args:
        other: What the same graph gives where no operators are put together.
    """
    least = TOLERANCES["cpu"]
    tolerance = Tolerance(
        max_abs=max(_ROOM * other.max_abs, least.max_abs),
        one_minus_cosine=max(_ROOM * (1 - other.min_cosine), least.one_minus_cosine),
    )
    return dict.fromkeys(DEVICES, tolerance)
