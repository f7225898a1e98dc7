"""Labels for each text, with their scores."""

from typing import ClassVar, cast

from pydantic import JsonValue

from polybake.baking.recipe.resolve import HEAD
from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.head import checked_labels, labels_of, needed_head
from polybake.baking.tasks.ranked import ranked
from polybake.baking.tasks.task import Found, Known, Task
from polybake.errors import InputError

_PURPOSE = "classify texts"


class Classify(Task):
    """A score for each label: probabilities of one label a text, or of each label by itself.

    Source: transformers ``TextClassificationPipeline``.
    """

    name: ClassVar[str] = "classify"
    output: ClassVar[str] = "scores"
    hub_tag: ClassVar[str] = "text-classification"
    labelled: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:
        """It was, where its head has numbers of several labels."""
        return len(labels_of(source)) > 1

    def recipe(self, source: Source) -> Recipe:
        """The model's head, and what makes scores of its numbers.

        Raises:
            InputError: the model has no such head, or its labels are of pairs of texts.
        """
        head = needed_head(source, _PURPOSE)
        if head.of_pairs:
            raise InputError(
                f"{source.folder.path}: is a CrossEncoder, whose labels are of pairs of texts, and "
                "classify takes single ones; labels of pairs are not there yet: use sentence-"
                "transformers, or, where its rows are single texts, list the steps yourself"
            )
        made = ({"step": "activation", "function": head.scores},) if head.scores else ()
        return ({"step": HEAD}, *made)

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:
        """The labels, in the order of the output's columns.

        Raises:
            InputError: there are not as many labels as columns, or one is there twice.
        """
        return {"labels": [*checked_labels(source, columns, _PURPOSE)]}

    def call(self, texts: tuple[str, ...], _: Known) -> dict[str, JsonValue]:
        """All texts at once."""
        return {"texts": [*texts]}

    def answer(self, found: Found) -> JsonValue:
        """Each text's labels with their scores, best first; equal scores in the labels' order."""
        return ranked(cast(list[str], found.known.settings["labels"]), found.vectors)
