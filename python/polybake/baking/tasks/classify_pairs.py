"""Labels for each pair of texts, with their scores."""

from typing import ClassVar

from pydantic import JsonValue

from polybake.baking.sources.source import Recipe, Source
from polybake.baking.tasks.classify import Classify, label_steps
from polybake.baking.tasks.head import labels_of
from polybake.baking.tasks.task import Known
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut

#: The second text of the last pair of every golden case, so that one is short.
_TEXT = "The lock is closed at night."


class ClassifyPairs(Classify):
    """Gives each label of a pair a score: what a text says of another, such as entailment.

    Source: transformers ``TextClassificationPipeline`` with ``text_pair``.
    """

    name: ClassVar[str] = "classify-pairs"
    cut: ClassVar[Cut | None] = "longest_first"

    def fits(self, source: Source) -> bool:
        """Return whether a CrossEncoder has a head with several labels."""
        pairs = source.head is not None and source.head.of_pairs
        return pairs and len(labels_of(source)) > 1

    def recipe(self, source: Source) -> Recipe:
        """Return the model's head, and the activation that makes scores of its numbers."""
        return label_steps(source, "classify pairs of texts")

    def texts(self, texts: tuple[str, ...], _: Known) -> tuple[Text, ...]:
        """Pair each text with the next one, and the last with one more."""
        return tuple(zip(texts, (*texts[1:], _TEXT), strict=True))

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue]:
        """Return all pairs as one call."""
        return {"texts": [[*pair] for pair in self.texts(texts, known)]}
