"""What is known of why vectors are not a model file's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polybake.base.modelfile.compare import LIMIT
from polybake.study.diagnose.explanation import Explanation
from polybake.study.diagnose.search import EXPLAINED, IN_PART

#: Largest differences, relative to a vector's length, and what arithmetic leaves them.
#: Source: docs/tolerances.md, "Why these numbers" and "Fewer bits".
_ROUNDING = ((3e-3, "float16, bfloat16 or TF32"), (3e-2, "int8"))


@dataclass(frozen=True)
class Example:
    """A text whose vector shows an explanation.

    Attributes:
        row: Its place among those given, from 1.
        text: As it was given.
        gap: The distance of the two vectors.
        explained: What part of it.
    """

    row: int
    text: str
    gap: float
    explained: float


@dataclass(frozen=True)
class Diagnosis:
    """What is known of a gap.

    Attributes:
        rows: Vectors that were given, all of which were compared.
        difference: The largest of one element, relative to its vector's length, of vectors beside
            those of their own texts; None where the dimensions differ.
        swapped: Whether the floats are in the other byte order.
        zeros: How many vectors are all zeros; they are compared no further.
        moved: How many vectors are another text's, or none's.
        astray: Which rows are zeros or another text's, and which texts have none, in words.
        found: What explains some of it, best first; nothing where there is no gap.
        examples: What shows the first of them best.
        ended: Whether the time ended before all was tried.
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
        """What is known of the gap, if there is one."""
        if self._near:
            return "explained" if self.swapped or self.moved or self.zeros else "same"
        most = self.found[0].explained if self.found else 0.0
        if most >= EXPLAINED:
            return "explained"
        return "explained in part" if most >= IN_PART else "unexplained"

    @property
    def left(self) -> float | None:
        """The largest difference of one element behind the first explanation, if it is one."""
        explained = self.found and self.verdict == "explained"
        return self.found[0].left if explained else self.difference

    @property
    def rounding(self) -> str | None:
        """The arithmetic that leaves such differences, if any is left."""
        if self.left is None or self.left <= LIMIT:
            return None
        return next((name for most, name in _ROUNDING if self.left <= most), None)

    @property
    def _near(self) -> bool:
        return self.difference is not None and self.difference <= LIMIT
