"""The rows of one text, and what may stand for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .contract import DIMENSION, Vectors

#: A vector for each token that the model keeps of a text: ``[rows, dimension]``.
TokenEmbeddings = Vectors


def checked_embeddings(name: str, rows: Any) -> NDArray[np.float64]:
    """Rows of one text, as an array or as lists; ``name`` is that of their argument."""
    if isinstance(rows, np.ndarray):
        if rows.ndim != 2 or rows.dtype.kind not in "iuf":
            shown = f"an array of {rows.dtype}, {list(rows.shape)}"
            raise TypeError(f"{name} is {shown}; expected numbers, [rows, {DIMENSION}]")
        _check_length(f"{name} has rows of", rows.shape[1])
    elif isinstance(rows, (str, bytes, bytearray)) or not isinstance(rows, Sequence):
        raise TypeError(f"{name} is {type(rows).__name__}; expected the rows of one text")
    else:
        for place, row in enumerate(rows):
            _check_row(f"{name}[{place}]", row)
    return np.asarray(rows, np.float64).reshape(-1, DIMENSION)


def _check_row(name: str, row: Any) -> None:
    if not isinstance(row, (Sequence, np.ndarray)):
        raise TypeError(f"{name} is {type(row).__name__}; expected a list of numbers")
    for place, number in enumerate(row):
        if not isinstance(number, (int, float, np.integer, np.floating)):
            raise TypeError(f"{name}[{place}] is {type(number).__name__}; expected a number")
    _check_length(f"{name} has", len(row))


def _check_length(found: str, length: int) -> None:
    if length != DIMENSION:
        raise ValueError(f"{found} {length} elements; expected {DIMENSION}")
