"""Labels for each text, with their scores."""

from collections.abc import Sequence
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tasks.head import LABELS, checked_labels, labels_of, needed_head
from polybake.baking.tasks.task import Known, Outputs, Task
from polybake.errors import InputError

_PURPOSE = "classify texts"


def label_steps(source: Source, purpose: str) -> Recipe:
    """Return the model's head, and the activation that makes scores of its numbers."""
    scores = needed_head(source, purpose).scores
    steps = ({"step": "activation", "function": scores},) if scores else ()
    return ({"step": HEAD}, *steps)


class Classify(Task):
    """Gives each label a score: probabilities of one label per text, or of each label by itself.

    Source: transformers ``TextClassificationPipeline``.
    """

    name: ClassVar[str] = "classify"
    output: ClassVar[str] = "scores"
    head: ClassVar[HeadKind | None] = LABELS
    hub_tag: ClassVar[str] = "text-classification"
    labelled: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """Return whether the source has a head with several labels."""
        return len(labels_of(source)) > 1

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head, and the activation that makes scores of its numbers."""
        if needed_head(source, _PURPOSE).of_pairs:
            raise InputError(
                f"{source.folder.path}: is a CrossEncoder, whose labels are of pairs of texts, and "
                'classify takes single ones; say task = "classify-pairs", or, where its rows are '
                "single texts, list the steps yourself"
            )
        return label_steps(source, _PURPOSE)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """Return the labels, in the order of the output's columns."""
        return {"labels": [*checked_labels(source, columns, _PURPOSE)]}

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """Return all texts as one call."""
        return {"texts": [*texts]}

    def answer(self, outputs: Outputs) -> JsonValue:
        """Return each text's labels with scores, best first; equal scores in the labels' order."""
        return ranked(cast(list[str], outputs.known.settings["labels"]), outputs.vectors)


def ranked(labels: Sequence[str], scores: NDArray[np.number[Any]]) -> list[JsonValue]:
    """Return each row's labels with scores, best first; equal scores in the labels' order."""
    return [
        [
            {"label": labels[index], "score": float(row[index])}
            for index in np.argsort(-row, kind="stable")
        ]
        for row in scores
    ]
