"""Find the labels of pairs of texts."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .contract import CONTRACT, Vectors
from .pair_model import PairModel
from .tokens import Pair
from .top import checked_top

_LABELS: list[str] = CONTRACT["settings"]["labels"]


class Label(NamedTuple):
    """A label of a pair, and how sure of it the model is."""

    label: str
    score: float


class PairClassifier(PairModel):
    """A model file that gives each pair of texts a score for each of its labels."""

    _noun = "classifier"

    @property
    def labels(self) -> tuple[str, ...]:
        """What a pair may be, in the order of ``score_pairs``."""
        return tuple(_LABELS)

    def classify(self, pairs: Iterable[Pair], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of pairs, best first.

        Args:
            pairs: a list, or whatever gives pairs of texts one after another.
            top: how many labels of each pair; all of them where it is not given.

        Returns:
            The labels of each pair, in the order of ``pairs``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        most = checked_top(top, len(_LABELS))
        return [_best(row, most) for row in self.score_pairs(pairs)]


def _best(scores: Vectors, most: int) -> list[Label]:
    """The labels with the highest scores; of equal ones the first."""
    places = np.argsort(-scores, kind="stable")[:most]
    return [Label(_LABELS[place], float(scores[place])) for place in places]
