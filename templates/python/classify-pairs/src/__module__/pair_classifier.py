"""Find the labels of pairs of texts."""

from collections.abc import Iterable

from .contract import SETTINGS
from .labels import Label, best_labels
from .model import Model
from .pairs import Pair
from .ranking import check_top
from .session import Vectors, stacked


class PairClassifier(Model):
    """A model file that gives each pair of texts a score for each of its labels."""

    #: What a pair may be, in the order of ``scores``.
    labels: tuple[str, ...] = tuple(SETTINGS["labels"])

    def classify(self, pairs: Iterable[Pair], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of pairs, of each the best first, at most ``top``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        check_top(top)
        return best_labels(self.scores(pairs), self.labels, top)

    def scores(self, pairs: Iterable[Pair]) -> Vectors:
        """The score of each label: ``[pairs, labels]``, in the order of ``labels``."""
        return stacked(self._each(pairs))
