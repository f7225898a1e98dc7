"""Find the labels of pairs of texts."""

from collections.abc import Iterable
from typing import NamedTuple

from .contract import SETTINGS
from .model import Model
from .pairs import Pair
from .ranking import best
from .session import Vectors

_LABELS: list[str] = SETTINGS["labels"]


class Label(NamedTuple):
    """A label of a pair, and how sure of it the model is."""

    label: str
    score: float


class PairClassifier(Model):
    """A model file that gives each pair of texts a score for each of its labels."""

    #: What a pair may be, in the order of ``scores``.
    labels = tuple(_LABELS)

    def classify(self, pairs: Iterable[Pair], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of pairs, of each the best first, at most ``top``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        return [
            [Label(_LABELS[place], float(row[place])) for place in best(row, top)]
            for row in self.scores(pairs)
        ]

    def scores(self, pairs: Iterable[Pair]) -> Vectors:
        """The score of each label: ``[pairs, labels]``, in the order of ``labels``."""
        return self._results(pairs)
