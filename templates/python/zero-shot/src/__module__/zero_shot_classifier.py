"""Find which of any labels texts have."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .labels import Label, best_labels
from .model import Model, checked_text, checked_texts
from .ranking import check_top
from .session import Vectors, stacked


class ZeroShotClassifier(Model):
    """A model file that says which of any labels a text has, by what it entails."""

    def classify(
        self,
        texts: Iterable[str],
        labels: Sequence[str],
        *,
        template: str = "This example is {}.",
        multi_label: bool = False,
        top: int | None = None,
    ) -> list[list[Label]]:
        """Find the labels of texts, of each the best first; of equal ones the first comes first.

        Args:
            labels: what a text may be.
            template: what a label is put into, at ``{}``.
            multi_label: whether each score is a probability of its own, or a text's are 1 together.
            top: how many labels of each text; all of them where it is not given.

        Raises:
            InvalidTextError: a text is not valid Unicode.
            LongTextError: a label and its template leave no room for a text.
        """
        check_top(top)
        given, known = checked_texts(texts), checked_texts(labels, "labels")
        if not known or len({*known}) < len(known):
            raise ValueError(f"labels are {known}; give at least one, and each once")
        if "{}" not in checked_text(template, "template"):
            raise ValueError(f'template is "{template}"; put {{}} where the label goes')
        pairs = [(text, template.replace("{}", label)) for text in given for label in known]
        rows = stacked(self._each(pairs)).reshape(len(given), len(known), 2)
        return best_labels(_scores(rows, multi_label or len(known) == 1), known, top)


def _scores(rows: Vectors, own: bool) -> Any:
    """Of ``[texts, labels, 2]``: softmax of entailment and contradiction, or of all entailments."""
    logits, axis = (rows, 2) if own else (rows[..., :1], 1)
    odds = np.exp(logits.astype(np.float64) - logits.max(axis=axis, keepdims=True))
    return (odds / odds.sum(axis=axis, keepdims=True))[..., 0]
