"""Find the labels of texts."""

from collections.abc import Iterable
from typing import NamedTuple

from .contract import SETTINGS
from .model import Model
from .ranking import best
from .session import Vectors

_LABELS: list[str] = SETTINGS["labels"]


class Label(NamedTuple):
    """A label of a text, and how sure of it the model is."""

    label: str
    score: float


class Classifier(Model):
    """A model file that gives each text a score for each of its labels."""

    #: What a text may be, in the order of ``scores``.
    labels = tuple(_LABELS)

    def classify(self, texts: Iterable[str], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of texts, of each the best first, at most ``top``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        return [
            [Label(_LABELS[place], float(row[place])) for place in best(row, top)]
            for row in self.scores(texts)
        ]

    def scores(self, texts: Iterable[str]) -> Vectors:
        """The score of each label: ``[texts, labels]``, in the order of ``labels``."""
        return self._results(texts)
