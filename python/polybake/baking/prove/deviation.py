"""How far a graph of lower precision lies from the exact graph, and from itself elsewhere."""

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import JsonValue

from polybake.base.modelfile.fixture import (
    DEVICES,
    TOLERANCES,
    Case,
    Tolerance,
    Vectors,
    decode_vectors,
)
from polybake.base.modelfile.manifest import Deviation
from polybake.base.modelfile.slack import Embeddings
from polybake.errors import CheckFailed

#: The factor on what another way of rounding changes, as other texts, processors and versions
#: differ more.
_ROOM = 3

#: The least cosine of a float16 vector to the exact vector: rounding alone leaves above 0.9999.
_CLOSE = 0.99


def measure_deviation(exact: Sequence[Case], found: Sequence[Case]) -> Deviation:
    """Compare the vectors of the same cases, text by text; of several outputs the worst counts.

    Args:
        exact: The cases of the float32 graph.
        found: The cases of the graph of lower precision.
    """
    golden = {case.id: case for case in exact}
    pairs = [(golden[case.id], case) for case in found if case.id in golden]
    outputs = [
        deviation(*(np.concatenate([decode_vectors(one) for one in side]) for side in sides))
        for sides in zip(*(map(_outputs, zip(*pairs, strict=True))), strict=True)
    ]
    worst = Deviation(
        max_abs=max(one.max_abs for one in outputs),
        mean_cosine=min(one.mean_cosine for one in outputs),
        min_cosine=min(one.min_cosine for one in outputs),
    )
    answers = [
        (_words(one.answer), _words(other.answer))
        for one, other in pairs
        if one.call and other.call
    ]
    moved = {"answers": len(answers), "reordered": sum(one != other for one, other in answers)}
    return worst.model_copy(update=moved)


def _outputs(cases: Sequence[Case]) -> Iterator[tuple[Vectors, ...]]:
    """Yield the vectors of all cases, an output at a time."""
    return zip(*(case.vectors for case in cases), strict=True)


def _words(answer: JsonValue) -> JsonValue:
    """Return an answer without its scores, to compare its content and order."""
    if isinstance(answer, list):
        return [_words(one) for one in answer]
    if isinstance(answer, dict):
        kept = {key: value for key, value in answer.items() if not isinstance(value, float)}
        return {key: _words(value) for key, value in kept.items()}
    return answer


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


def check_close(deviation: Deviation) -> None:
    """Refuse float16 vectors that differ too much from the exact vectors.

    Raises:
        CheckFailed: They hold NaN, or a direction is too far off.
    """
    if not deviation.min_cosine >= _CLOSE:
        raise CheckFailed(
            f"float16 gives a golden text a vector of cosine {deviation.min_cosine:.4f} to the "
            f"exact one, expected {_CLOSE} at least; nothing was written; set "
            'precision = "float32" in [model]'
        )


def rounding_tolerances(moved: Deviation, rounded: Deviation | None = None) -> dict[str, Tolerance]:
    """Return how far clients may lie from the golden vectors of a graph of fewer bits.

    A number at the edge of two steps falls into either, depending on float32's rounding before it,
    and later numbers change, too. How much they change depends on the model.

    Args:
        moved: What another way of rounding changes.
        rounded: What rounding itself changed, if other versions of a runtime may round every
            number differently: two ways of rounding hardly lie further apart than that.
    """
    least = TOLERANCES["cpu"]
    max_abs = [_ROOM * moved.max_abs, least.max_abs]
    cosine = [_ROOM * (1 - moved.min_cosine), least.one_minus_cosine]
    if rounded:
        max_abs.append(rounded.max_abs)
        cosine.append(1 - rounded.min_cosine)
    tolerance = Tolerance(max_abs=max(max_abs), one_minus_cosine=max(cosine))
    return dict.fromkeys(DEVICES, tolerance)
