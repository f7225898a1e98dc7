"""The elements of a vector that are not 0."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .contract import DIMENSION, Vectors


class SparseVector(NamedTuple):
    """The tokens that a text is about, and how much; every other element of its vector is 0."""

    #: Token ids, ascending.
    indices: NDArray[np.uint32]
    #: Their weights, as many.
    values: NDArray[np.float32]


def sparse(vector: Vectors) -> SparseVector:
    """The same vector, ``[dimension]``, without its zeros."""
    indices = np.flatnonzero(vector)
    return SparseVector(indices.astype(np.uint32), vector[indices])


def checked_vector(vector: SparseVector) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices that the model has, and their values; both may be lists, such as a database gives."""
    if not isinstance(vector, SparseVector):
        raise TypeError(f"vector is {type(vector).__name__}; expected a SparseVector")
    indices = _numbers("indices", vector.indices)
    values = _numbers("values", vector.values)
    if len(indices) != len(values):
        raise ValueError(
            f"vector has {len(indices)} indices and {len(values)} values; give as many"
        )
    last = DIMENSION - 1
    for place, index in enumerate(indices.tolist()):
        if not isinstance(index, int) or not 0 <= index <= last:
            raise ValueError(
                f"vector.indices[{place}] is {index}; expected a whole number from 0 to {last}"
            )
    return indices.astype(np.int64), values.astype(np.float64)


def _numbers(name: str, given: Any) -> NDArray[Any]:
    numbers = np.asarray(given)
    if numbers.ndim != 1 or numbers.size and numbers.dtype.kind not in "iuf":
        raise TypeError(f"vector.{name} is {type(given).__name__}; expected a list of numbers")
    return numbers
