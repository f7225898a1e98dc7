"""What the graph gives for texts: a vector for each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import CONTRACT, DIMENSION, Vectors

#: The vectors of texts, in their order: ``[texts, dimension]``.
Results = Vectors

#: The outputs that a run is asked for.
OUTPUTS: list[str] = [CONTRACT["output"]["name"]]


def results_of(outputs: Sequence[NDArray[Any]], _texts: int) -> Results:
    """The vectors among the outputs of a run."""
    return outputs[0]


def empty(texts: int) -> Results:
    """Room for the vectors of so many texts."""
    return np.empty((texts, DIMENSION), CONTRACT["output"]["dtype"])
