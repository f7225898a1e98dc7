"""Find which of any labels texts have."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arguments import checked_texts
from .label_arguments import checked_flag, checked_template
from .labels import checked_labels
from .pair_model import PairModel
from .top import checked_top

#: What a label is put into, so that a text may entail it.
TEMPLATE = "This example is {}."


class Label(NamedTuple):
    """A label of a text, and how sure of it the model is."""

    label: str
    score: float


class ZeroShotClassifier(PairModel):
    """A model file that says which of any labels a text has, by what it entails."""

    _noun = "classifier"

    def classify(
        self,
        texts: Iterable[str],
        labels: Sequence[str],
        *,
        template: str = TEMPLATE,
        multi_label: bool = False,
        top: int | None = None,
    ) -> list[list[Label]]:
        """Find the labels of texts, best first; of equal ones the first comes first.

        Args:
            texts: a list, or whatever gives texts one after another.
            labels: what a text may be.
            template: what a label is put into, at ``{}``.
            multi_label: whether a text may have several labels: each score is then a probability of
                its own, where the scores of a text are otherwise 1 together. One label alone always
                has such a probability.
            top: how many labels of each text; all of them where it is not given.

        Returns:
            The labels of each text, in the order of ``texts``.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: a label and its template leave no room for a text.
        """
        ranked = _Ranked(labels, template, multi_label, top)
        found = self.score_pairs(ranked.pairs(checked_texts(texts)))
        return list(ranked.labels(iter(found)))


class _Ranked:
    """What is asked of each text, and what its labels are."""

    def __init__(
        self, labels: Sequence[str], template: str, multi_label: bool, top: int | None
    ) -> None:
        self._labels = checked_labels(labels)
        form = checked_template(template)
        self._hypotheses = [form.replace("{}", label) for label in self._labels]
        self._own = checked_flag("multi_label", multi_label) or len(self._labels) == 1
        self._most = checked_top(top, len(self._labels))

    def pairs(self, texts: Iterator[str]) -> Iterator[tuple[str, str]]:
        return ((text, hypothesis) for text in texts for hypothesis in self._hypotheses)

    def labels(self, found: Iterator[NDArray[np.float32]]) -> Generator[list[Label], None, None]:
        while rows := list(islice(found, len(self._labels))):
            scores = self._scores(np.array(rows, np.float64))
            places = np.argsort(-scores, kind="stable")[: self._most]
            yield [Label(self._labels[place], float(scores[place])) for place in places]

    def _scores(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """Softmax of entailment and contradiction, ``[labels, 2]``, or of all entailments."""
        entailment, contradiction = rows.T
        if self._own:
            return np.asarray(np.exp(-np.logaddexp(0, contradiction - entailment)))
        odds = np.exp(entailment - entailment.max())
        return np.asarray(odds / odds.sum())
