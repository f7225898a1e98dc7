"""Vectors as services over HTTP write them, and as the protocol does."""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.compare import compare_vectors
from polybake.base.modelfile.fixture import TOLERANCES

Vectors = NDArray[np.float32]


def stacked(rows: Sequence[list[float] | str]) -> Vectors:
    """Rows of numbers, or of base64 of little-endian float32: ``[rows, elements]``."""
    found = [_decoded(row) if isinstance(row, str) else np.array(row, np.float64) for row in rows]
    lengths = sorted({len(row) for row in found})
    if len(lengths) > 1:
        raise ValueError(f"vectors of {', '.join(map(str, lengths))} elements in one answer")
    with np.errstate(over="ignore"):
        return np.array(found, np.float32).reshape(len(found), lengths[0] if lengths else 0)


def agreed(found: Sequence[Vectors]) -> Vectors:
    """Return the first of several encodings of the same vectors, and check that they agree."""
    first, *others = found
    for other in others:
        if other.shape != first.shape:
            raise ValueError(f"as base64 of shape {[*other.shape]}, not {[*first.shape]}")
        difference = compare_vectors(first, other, TOLERANCES["cpu"])
        if difference:
            raise ValueError(f"as base64 other vectors than as numbers: {difference.message}")
    return first


def joined(parts: Sequence[Vectors]) -> Vectors:
    """Concatenate the vectors of several answers."""
    lengths = sorted({part.shape[1] for part in parts})
    if len(lengths) > 1:
        raise ValueError(f"vectors of {', '.join(map(str, lengths))} elements for one list")
    return np.concatenate(parts)


def encoded(vectors: Vectors, dtype: str) -> dict[str, Any]:
    """Return the results of ``embed``; integers in the range of the model's dtype get that dtype.

    JSON has no integers of eight bits.
    """
    with np.errstate(invalid="ignore"):
        typed = vectors.astype(dtype)
    given = typed if np.array_equal(typed, vectors) else vectors
    little = np.ascontiguousarray(given, given.dtype.newbyteorder("<"))
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": given.dtype.name, "shape": [*given.shape], "data": data}


def _decoded(text: str) -> NDArray[Any]:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not base64 of float32: {error}") from error
