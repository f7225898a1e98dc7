"""The distance of others' vectors from a model's own, and how much of it is explained."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.compare import LIMIT, relative_difference
from polybake.study.diagnose.departures.stored import Rounding
from polybake.study.diagnose.way import Vectors


class Gap:
    """The gap between others' vectors and a model's own.

    Args:
        theirs: The others' vectors, ``[texts, dimension]``.
        own: The model's vectors, ``[texts, dimension]``; zeros are taken for another dimension.
    """

    def __init__(self, theirs: Vectors, own: Vectors) -> None:
        self.theirs = theirs.astype(np.float64)
        self.own = own if own.shape == theirs.shape else np.zeros_like(self.theirs)
        #: The distance of each text.
        self.of_texts: NDArray[np.float64] = np.linalg.norm(self.theirs - self.own, axis=1)

    @cached_property
    def largest(self) -> float:
        """The largest difference of an element, relative to its vector's length."""
        return relative_difference(self.theirs, self.own)

    def explained(
        self, vectors: Vectors, rounding: Rounding | None = None
    ) -> tuple[float, float, NDArray[np.float64]]:
        """Return how much these vectors explain, what they leave, and how much of each text's gap.

        Vectors that cannot be compared explain nothing and leave an infinite gap.

        Args:
            vectors: ``[texts, dimension]``.
            rounding: The rounding of the vectors. An element near the edge of a step takes the
                others' side, as arithmetic may have put it on either.
        """
        if vectors.shape != self.theirs.shape or not np.isfinite(vectors).all():
            return -np.inf, np.inf, np.full(len(self.theirs), -np.inf)
        if rounding is not None:
            vectors = self._rounded(vectors, rounding)
        left = np.linalg.norm(self.theirs - vectors, axis=1)
        before = np.where(self.of_texts > 0, self.of_texts, np.inf)
        whole = 1 - np.linalg.norm(left) / max(np.linalg.norm(self.of_texts), np.finfo(float).tiny)
        return float(whole), relative_difference(vectors, self.theirs), 1 - left / before

    def _rounded(self, vectors: Vectors, rounding: Rounding) -> Vectors:
        given = self.theirs.astype(np.float32)
        if not rounding.holds(given):
            return rounding(vectors)
        slack = LIMIT * np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.clip(given, rounding(vectors - slack), rounding(vectors + slack))
