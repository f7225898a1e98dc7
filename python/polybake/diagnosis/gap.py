"""How far vectors of others are from a model's own, and how much of that is gone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.way import Vectors
from polybake.modelfile.compare import relative_difference


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

    def explained(self, vectors: Vectors) -> tuple[float, float, NDArray[np.float64]]:
        """How much of the whole is gone with these vectors, what is left, and of each text.

        Nothing is, and all is left, where they cannot be compared.
        """
        if vectors.shape != self.theirs.shape or not np.isfinite(vectors).all():
            return -np.inf, np.inf, np.full(len(self.theirs), -np.inf)
        left = np.linalg.norm(self.theirs - vectors, axis=1)
        before = np.where(self.of_texts > 0, self.of_texts, np.inf)
        whole = 1 - np.linalg.norm(left) / max(np.linalg.norm(self.of_texts), np.finfo(float).tiny)
        return float(whole), relative_difference(vectors, self.theirs), 1 - left / before
