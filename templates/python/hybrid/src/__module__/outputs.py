"""What the graph gives for texts: a vector of each, and a weight and a vector of its tokens."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .contract import CONTRACT, Vectors
from .errors import ModelError

_OUTPUTS = [CONTRACT["output"], *CONTRACT["further_outputs"]]
_COUNTS = CONTRACT["further_outputs"][0]["counts"]


class Parts(NamedTuple):
    """What one text gets: ``[dimension]``, and of each token but the first ``[rows, …]``."""

    dense: Vectors
    weights: Vectors
    vectors: Vectors


#: `Parts` of each text, in their order: ``[texts]``.
Results = NDArray[np.object_]

#: The outputs that a run is asked for.
OUTPUTS: list[str] = [*(output["name"] for output in _OUTPUTS), _COUNTS]


def results_of(outputs: Sequence[NDArray[Any]], texts: int) -> Results:
    """What each text gets of the outputs of a run.

    Raises:
        ModelError: the outputs are not those of so many texts.
    """
    dense, weights, vectors, counts = outputs
    fits = len(dense) == len(counts) == texts and (counts >= 0).all()
    if not fits or not counts.sum() == len(weights) == len(vectors):
        raise ModelError(
            f"the graph gives {len(dense)} vectors and {len(vectors)} rows for {texts} texts, and "
            f"counts that do not fit them ({_COUNTS}); bake the model again"
        )
    results = empty(texts)
    for place, (end, count) in enumerate(zip(counts.cumsum(), counts, strict=True)):
        part = slice(end - count, end)  # whoever keeps a view keeps its batch
        results[place] = Parts(dense[place].copy(), weights[part].copy(), vectors[part].copy())
    return results


def empty(texts: int) -> Results:
    """Room for what so many texts get."""
    return np.empty(texts, np.object_)


def matrices(results: Results) -> list[Vectors]:
    """The rows of all texts together, an output at a time, as golden vectors are stored."""
    none = [np.empty((0, output["dimension"]), output["dtype"]) for output in _OUTPUTS]
    dense = [parts.dense[None] for parts in results]
    return [
        np.concatenate([none[0], *dense]) if not dense else np.concatenate(dense),
        np.concatenate([parts.weights for parts in results] or none[1:2]),
        np.concatenate([parts.vectors for parts in results] or none[2:]),
    ]
