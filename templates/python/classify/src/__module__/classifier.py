"""Find the labels of texts."""

from collections.abc import Iterable

from .contract import SETTINGS
from .labels import Label, best_labels
from .model import Model
from .ranking import check_top
from .session import Vectors, stacked


class Classifier(Model):
    """A model file that gives each text a score for each of its labels."""

    #: What a text may be, in the order of ``scores``.
    labels: tuple[str, ...] = tuple(SETTINGS["labels"])

    def classify(self, texts: Iterable[str], *, top: int | None = None) -> list[list[Label]]:
        """Find the labels of texts, of each the best first, at most ``top``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
        """
        check_top(top)
        return best_labels(self.scores(texts), self.labels, top)

    def scores(self, texts: Iterable[str]) -> Vectors:
        """The score of each label: ``[texts, labels]``, in the order of ``labels``."""
        return stacked(self._each(texts))
