"""A service's vectors as an array, for the comparison with golden vectors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from polybake.base.modelfile.slack import Embeddings


def found_vectors(vectors: Iterable[Any], golden: Embeddings, *, several: bool) -> Embeddings:
    """Return the vectors of all texts as an array of the golden shape, ``[texts, dimension]``.

    Floats become float64, as JSON and lists have no float32. If ``several``, each text has
    vectors ``[vectors, dimension]``.
    """
    if not isinstance(vectors, Iterable):
        raise ValueError(f"got {type(vectors).__name__}, expected vectors, one for each text")
    try:
        rows = [np.asarray(one) for one in vectors]
    except ValueError as error:  # rows of a text that are not equally long
        raise ValueError(f"the vectors of a text are no array ({error})") from error
    if several:
        rows = [row for one in rows for row in np.atleast_1d(one)]
    if len(rows) != len(golden):
        raise ValueError(f"{len(rows)} vectors, expected {len(golden)}")
    expected = golden.shape[1:]
    for number, row in enumerate(rows):
        if row.shape != expected:
            raise ValueError(f"row {number}: shape {[*row.shape]}, expected {[*expected]}")
        if row.dtype.kind not in "iuf":
            raise ValueError(f"row {number}: elements are {row.dtype}, expected numbers")
    found = np.array(rows, np.float64).reshape(golden.shape)
    return _integers(found, golden) if golden.dtype.kind in "iu" else found


def _integers(found: Embeddings, golden: Embeddings) -> Embeddings:
    limits = np.iinfo(golden.dtype.name)
    inside = (found >= limits.min) & (found <= limits.max) & (found == np.floor(found))
    if not inside.all():
        row, element = map(int, np.argwhere(~inside)[0])
        raise ValueError(
            f"row {row}, element {element}: {found[row, element]:g}, expected a whole number "
            f"from {limits.min} to {limits.max}, as the model gives {golden.dtype}"
        )
    return found.astype(golden.dtype)
