"""Find the labels of texts."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .arguments import Rows
from .contract import CONTRACT, Vectors
from .model import Model
from .top import checked_top

_LABELS: list[str] = CONTRACT["settings"]["labels"]

#: ``[texts, labels]``.
Scores = Vectors


class Label(NamedTuple):
    """A label of a text, and how sure of it the model is."""

    label: str
    score: float


class Classifier(Model):
    """A model file that gives each text a score for each of its labels."""

    _noun = "classifier"

    @property
    def labels(self) -> tuple[str, ...]:
        """What a text may be, in the order of ``scores``."""
        return tuple(_LABELS)

    def classify(self, texts: Iterable[str], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of texts, best first.

        Args:
            texts: a list, or whatever gives texts one after another.
            top: how many labels of each text; all of them where it is not given.

        Returns:
            The labels of each text, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        most = checked_top(top, len(_LABELS))
        return [_best(row, most) for row in self.scores(texts)]

    def scores(self, texts: Iterable[str]) -> Scores:
        """The score of each label: ``[texts, labels]``, in the order of ``labels``."""
        return self._vectors(texts, None)

    def tokenize(self, texts: Iterable[str]) -> list[list[int]]:
        """Token ids of each text, truncated, not padded."""
        return self._tokenize(texts, None)

    def score_ids(self, rows: Rows) -> Scores:
        """Run rows of token ids as one batch, padded to the longest: ``[rows, labels]``.

        Raises:
            InvalidIdsError: the model does not have such ids, or so many in a row.
        """
        return self._run(rows, None)


def _best(scores: Scores, most: int) -> list[Label]:
    """The labels with the highest scores; of equal ones the first."""
    places = np.argsort(-scores, kind="stable")[:most]
    return [Label(_LABELS[place], float(scores[place])) for place in places]
