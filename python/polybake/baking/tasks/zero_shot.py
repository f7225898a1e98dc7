"""Zero-shot classification: entailment says which of any given labels a text has."""

from typing import ClassVar, cast

import numpy as np
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.classify import ranked
from polybake.baking.tasks.head import LABELS, labels_of, needed_head
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut
from polybake.errors import InputError

#: The labels of golden cases.
_LABELS = ("weather", "sailing", "\u03ba\u03b1\u03b9\u03c1\u03cc\u03c2 \U0001f327")

#: Source: transformers ``ZeroShotClassificationPipeline``, its ``hypothesis_template``.
_TEMPLATE = "This example is {}."


class ZeroShot(Task):
    """Gives numbers for entailment and contradiction, for a text and each label's hypothesis.

    Source: transformers ``ZeroShotClassificationPipeline``.
    """

    name: ClassVar[str] = "zero-shot"
    output: ClassVar[str] = "entailment"
    head: ClassVar[HeadKind | None] = LABELS
    hub_tag: ClassVar[str] = "zero-shot-classification"
    cut: ClassVar[Cut | None] = "only_first"

    def texts(self, texts: tuple[str, ...], _: Known) -> tuple[Text, ...]:
        """Pair each text with each hypothesis."""
        hypotheses = [_TEMPLATE.replace("{}", label) for label in _asked(texts)]
        return tuple((text, hypothesis) for text in texts for hypothesis in hypotheses)

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return texts, labels and a template; three or more texts may have several labels."""
        return {
            "texts": [*texts],
            "labels": [*_asked(texts)],
            "template": _TEMPLATE,
            "multi_label": len(texts) > 2,
        }

    def fits(self, source: Source) -> bool:
        """Return whether the source has a head with a label for entailment."""
        return _place(labels_of(source), "entail") is not None

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head, and the choice of two numbers: entailment, then contradiction.

        Source: the pipeline's ``entailment_id``. The pipeline takes the label at the other end for
        contradiction, which may be neutral; here contradiction is found by its name.
        """
        labels = needed_head(source, "tell what a text entails").labels
        index = _place(labels, "entail")
        if index is None or len(labels) < 2:
            raise _unnamed(source, labels, "entail is needed beside another")
        other = 1 - index if len(labels) == 2 else _place(labels, "contra")
        if other is None:
            raise _unnamed(source, labels, "contra is needed")
        return ({"step": HEAD}, {"step": "select", "places": [index, other]})

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return no settings; check that there are two numbers per pair."""
        if columns != 2:
            raise InputError(
                f"{source.folder.path}: the steps give {columns} numbers of a pair, expected two, "
                "of entailment and contradiction; choose them with the step select"
            )
        return {}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return each text's labels with their scores, best first.

        Entailment is weighed against contradiction if a text may have several labels or if there
        is a single label, else against the other labels' entailment.
        """
        labels = cast(list[str], outputs.call["labels"])
        numbers = outputs.vectors.astype(np.float64).reshape(-1, len(labels), 2)
        entailment = numbers[..., 0]
        several = outputs.call["multi_label"] or len(labels) == 1
        against = numbers if several else entailment[..., None, :]
        scores = np.exp(entailment - np.logaddexp.reduce(against, axis=-1))
        return ranked(labels, scores)


def _asked(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels of a case: for two texts a single label, which is scored differently."""
    return _LABELS[:1] if len(texts) == 2 else _LABELS


def _place(labels: tuple[str, ...], begins: str) -> int | None:
    return next((n for n, label in enumerate(labels) if label.lower().startswith(begins)), None)


def _unnamed(source: Source, labels: tuple[str, ...], needed: str) -> InputError:
    return InputError(
        f"{source.folder.path}: its labels are {', '.join(labels)}, and one that begins with "
        f"{needed}; name it in id2label, or list the steps head and select, with the places of "
        "entailment and contradiction"
    )
