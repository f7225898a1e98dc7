"""What the graph gives for texts: rows for each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import CONTRACT, DIMENSION, Vectors
from .errors import ModelError

_OUTPUT = CONTRACT["output"]

#: An array ``[rows, dimension]`` of each text, in their order: ``[texts]``.
Results = NDArray[np.object_]

#: The outputs that a run is asked for.
OUTPUTS: list[str] = [_OUTPUT["name"], _OUTPUT["counts"]]


def results_of(outputs: Sequence[NDArray[Any]], texts: int) -> Results:
    """The rows of each text among the outputs of a run.

    Raises:
        ModelError: the counts are not those of so many texts and of all rows.
    """
    rows, counts = outputs
    if len(counts) != texts or (counts < 0).any() or counts.sum() != len(rows):
        raise ModelError(
            f"the graph gives {len(rows)} rows for {texts} texts, and counts that do not fit them "
            f"({_OUTPUT['counts']}); bake the model again"
        )
    results = empty(texts)
    for place, (end, count) in enumerate(zip(counts.cumsum(), counts, strict=True)):
        results[place] = rows[end - count : end].copy()  # whoever keeps a view keeps its batch
    return results


def empty(texts: int) -> Results:
    """Room for the rows of so many texts."""
    return np.empty(texts, np.object_)


def matrix(results: Results) -> Vectors:
    """The rows of all texts together, as golden vectors are stored: ``[rows, dimension]``."""
    none = np.empty((0, DIMENSION), _OUTPUT["dtype"])
    return np.vstack(list(results)) if len(results) else none
