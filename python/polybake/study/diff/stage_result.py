"""The result of one stage: how many texts differ, and by how much."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.tolerance import (
    TOLERANCES,
    Embeddings,
    Slack,
    Tolerance,
    compare_vectors,
    largest_difference,
    relative_difference,
)
from polybake.verification.verdict import Stage


class Cosines(NamedTuple):
    """The least cosine, the first percentile and the median over all pairs of vectors."""

    least: float
    hundredth: float
    median: float


@dataclass
class StageResult:
    """The result of one stage over all texts so far.

    Attributes:
        stage: ``tokenize``, or a stage of vectors.
        tolerance: Vectors within it count as the same.
        integers: Whether elements are integers.
        packed_bits: Whether an element holds eight bits.
        texts: How many texts were compared.
        differing: How many of them differ.
        largest: The largest difference of an element: of float32 relative to the vector's length,
            of integers in steps, of packed bits in bits.
        worst: The text that differs most; for token ids the first that differs. A text of white
            space, which says little, is taken only if no other differs.
        distances: 1 - cosine of each pair of vectors that has one, 8 bytes a text.
    """

    stage: Stage
    tolerance: Tolerance = TOLERANCES["cpu"]
    integers: bool = False
    packed_bits: bool = False
    texts: int = 0
    differing: int = 0
    largest: float = 0.0
    worst: Text | None = None
    _worst: float = 0.0
    distances: array[float] = field(default_factory=lambda: array("d"))

    @property
    def unit(self) -> str:
        """The unit of ``largest``; empty for float32."""
        if self.integers:
            return "bits" if self.packed_bits else "steps"
        return ""

    @property
    def cosines(self) -> Cosines | None:
        """The least cosine, the first percentile and the median; None without any cosine."""
        if not self.distances:
            return None
        least, hundredth, median = np.quantile(1 - np.array(self.distances), (0, 0.01, 0.5))
        return Cosines(float(least), float(hundredth), float(median))

    def add(self, text: Text, *, same: bool) -> None:
        """Count a text; if it differs, count it as differing and perhaps keep it as ``worst``."""
        self.texts += 1
        self.differing += not same
        if not same and (self.worst is None or (blank(self.worst) and not blank(text))):
            self.worst = text

    def add_vectors(
        self, text: Text, before: Embeddings, after: Embeddings, slack: Slack | None = None
    ) -> None:
        """Compare the vectors of a text, ``[vectors, dimension]`` of one dtype.

        Different counts are a difference, too. ``slack`` is how far integers may differ.
        """
        if before.shape != after.shape:
            self.add(text, same=False)
            return
        if not self.integers:
            largest = relative_difference(after, before)
            largest = math.inf if math.isnan(largest) else largest
        else:
            slack = slack or Slack(np.zeros(before.shape, np.uint8), self.packed_bits)
            largest = largest_difference(before, after, slack)
        same = compare_vectors(before, after, self.tolerance, slack) is None
        if not same and largest > self._worst and not blank(text):
            self.worst, self._worst = text, largest
        self.add(text, same=same)
        self.largest = max(self.largest, largest)
        if not self.packed_bits:
            self._add_cosines(before.astype(np.float64), after.astype(np.float64))

    def _add_cosines(self, before: Embeddings, after: Embeddings) -> None:
        norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        mask = (norms > 0) & np.isfinite(norms)
        cosines = (before * after).sum(axis=1)[mask] / norms[mask]
        self.distances.extend(1 - cosines)


def blank(text: Text) -> bool:
    """Return whether a text, or both texts of a pair, are empty or white space alone."""
    return not "".join(text).strip()
