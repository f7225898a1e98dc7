"""A vector of which most elements are 0."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class SparseVector(NamedTuple):
    """The tokens that a text is about, and how much; every other element of its vector is 0."""

    #: Token ids, ascending.
    indices: NDArray[np.uint32]
    #: Their weights, as many.
    values: NDArray[np.float32]
