"""The best labels of a text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .ranking import best


class Label(NamedTuple):
    """What a text, or a pair of texts, may be, and how sure of it the model is."""

    label: str
    score: float


def best_labels(scores: NDArray[Any], labels: Sequence[str], top: int | None) -> list[list[Label]]:
    """The best labels of each row of scores ``[texts, labels]``, the best first, at most ``top``."""
    return [[Label(labels[i], float(row[i])) for i in best(row, top)] for row in scores]
