"""The result of a diagnosis: why vectors are not a model file's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polybake.base.modelfile.compare import LIMIT
from polybake.study.diagnose.explanation import Explanation
from polybake.study.diagnose.search import EXPLAINED, IN_PART

#: Largest differences, relative to a vector's length, and the arithmetic that causes them.
#: Source: docs/tolerances.md, "Why these numbers" and "Fewer bits".
_ROUNDING = ((3e-3, "float16, bfloat16 or TF32"), (3e-2, "int8"))


@dataclass(frozen=True)
class Example:
    """A text whose vector shows an explanation.

    Attributes:
        row: Its row, from 1.
        text: The text.
        gap: The distance of its two vectors.
        explained: The part of the gap that is explained.
    """

    row: int
    text: str
    gap: float
    explained: float


@dataclass(frozen=True)
class Diagnosis:
    """The result of a diagnosis.

    Attributes:
        rows: How many vectors were compared.
        difference: The largest difference of an element, relative to its vector's length, between
            vectors of the same text; None if the dimensions differ.
        swapped: Whether the floats are in the other byte order.
        zeros: How many vectors are all zeros; these are not compared further.
        moved: How many vectors belong to another text, or to none.
        astray: Which rows are zeros or another text's, and which texts have none, in words.
        found: The explanations, best first; empty if there is no gap.
        examples: The texts that show the first explanation best.
        ended: Whether time ran out before all departures were tried.
    """

    rows: int
    difference: float | None
    swapped: bool
    zeros: int
    moved: int
    astray: tuple[str, ...]
    found: tuple[Explanation, ...]
    examples: tuple[Example, ...]
    ended: bool

    @property
    def verdict(self) -> Literal["same", "explained", "explained in part", "unexplained"]:
        """Whether the vectors are the same, and if not, how far the gap is explained."""
        if self._near:
            return "explained" if self.swapped or self.moved or self.zeros else "same"
        most = self.found[0].explained if self.found else 0.0
        if most >= EXPLAINED:
            return "explained"
        return "explained in part" if most >= IN_PART else "unexplained"

    @property
    def left(self) -> float | None:
        """The largest difference of an element that the best explanation, if any, leaves."""
        explained = self.found and self.verdict == "explained"
        return self.found[0].left if explained else self.difference

    @property
    def rounding(self) -> str | None:
        """The arithmetic that causes differences as large as what is left, if anything is left."""
        if self.left is None or self.left <= LIMIT:
            return None
        return next((name for most, name in _ROUNDING if self.left <= most), None)

    @property
    def _near(self) -> bool:
        return self.difference is not None and self.difference <= LIMIT
