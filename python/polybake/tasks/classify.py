"""Labels for each text, with their scores."""

from typing import ClassVar, cast

from pydantic import JsonValue

from polybake.errors import InputError
from polybake.recipe.resolve import HEAD
from polybake.sources.source import Recipe, Source
from polybake.tasks.head import labels_of, needed_head
from polybake.tasks.ranked import ranked
from polybake.tasks.task import Found, Task

_PURPOSE = "classify texts"


class Classify(Task):
    """A score for each label: probabilities of one label a text, or of each label by itself.

    Source: transformers ``TextClassificationPipeline``.
    """

    name: ClassVar[str] = "classify"
    output: ClassVar[str] = "scores"

    def fits(self, source: Source) -> bool:
        """It was, where its head has numbers of several labels."""
        return len(labels_of(source)) > 1

    def recipe(self, source: Source) -> Recipe:
        """The model's head, and what makes scores of its numbers.

        Raises:
            InputError: the model has no such head.
        """
        scores = needed_head(source, _PURPOSE).scores
        made = ({"step": "activation", "function": scores},) if scores else ()
        return ({"step": HEAD}, *made)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """The labels, in the order of the output's columns.

        Raises:
            InputError: there are not as many labels as columns, or one is there twice.
        """
        labels, place = source.labels, "model.labels"
        if not labels:
            labels, place = needed_head(source, _PURPOSE).labels, "id2label of config.json"
        if len(labels) != columns:
            raise InputError(
                f"{source.folder.path}: {place} names {len(labels)} labels, and the steps give "
                f"{columns} numbers; name as many"
            )
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(
                    f"{source.folder.path}: the label {label!r} stands twice in {place}; give "
                    "each number a name of its own"
                )
        return {"labels": list(labels)}

    def call(self, texts: tuple[str, ...]) -> dict[str, JsonValue]:
        """All texts at once."""
        return {"texts": [*texts]}

    def answer(self, found: Found) -> JsonValue:
        """Each text's labels with their scores, best first; equal scores in the labels' order."""
        return ranked(cast(list[str], found.settings["labels"]), found.vectors)
