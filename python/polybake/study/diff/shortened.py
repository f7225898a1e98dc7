"""Are the second file's vectors the first file's, cut short as Matryoshka models allow?"""

from typing import Literal

import numpy as np

from polybake.base.modelfile.compare import compare_vectors
from polybake.base.modelfile.fixture import Tolerance
from polybake.study.diff.search_vectors import SearchVectors


def shortened(
    vectors: SearchVectors, tolerance: Tolerance
) -> Literal["cut", "cut and normalized"] | None:
    """Return how the second file's vectors come from the first file's by being shortened, if so."""
    if not len(vectors):
        return None
    old, new = (
        np.concatenate(parts)
        for parts in zip(vectors.arrays("document"), vectors.arrays("query"), strict=True)
    )
    size = new.shape[1]
    if size >= old.shape[1] or new.dtype != np.float32 or old.dtype != np.float32:
        return None
    cut = old[:, :size]
    if compare_vectors(cut, new, tolerance) is None:
        return "cut"
    norms = np.linalg.norm(cut, axis=1, keepdims=True)
    unit = cut / np.where(norms > 0, norms, 1)
    return "cut and normalized" if compare_vectors(unit, new, tolerance) is None else None
