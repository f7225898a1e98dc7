"""How far vectors of others are from a model's own, and how much of that is gone."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.compare import LIMIT, relative_difference
from polybake.study.diagnose.departures.stored import Rounding
from polybake.study.diagnose.way import Vectors


class Gap:
    """Between vectors of others and a model's own.

    Args:
        theirs: ``[texts, dimension]``.
        own: ``[texts, dimension]``; of another dimension the gap is the whole vector.
    """

    def __init__(self, theirs: Vectors, own: Vectors) -> None:
        self.theirs = theirs.astype(np.float64)
        self.own = own if own.shape == theirs.shape else np.zeros_like(self.theirs)
        #: The distance of each text.
        self.of_texts: NDArray[np.float64] = np.linalg.norm(self.theirs - self.own, axis=1)

    @cached_property
    def largest(self) -> float:
        """The largest difference of one element, relative to its vector's length."""
        return relative_difference(self.theirs, self.own)

    def explained(
        self, vectors: Vectors, rounding: Rounding | None = None
    ) -> tuple[float, float, NDArray[np.float64]]:
        """How much of the whole is gone with these vectors, what is left, and of each text.

        Nothing is, and all is left, where they cannot be compared.

        Args:
            vectors: ``[texts, dimension]``.
            rounding: What becomes of them. An element that arithmetic may have put on either side
                of a step is on theirs.
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
