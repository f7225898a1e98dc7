"""A vector for each text."""

from typing import ClassVar

from polybake.sources.source import Recipe, Source
from polybake.tasks.task import Task


class Embed(Task):
    """Embeddings: what the steps make of token embeddings is what clients give."""

    name: ClassVar[str] = "embed"
    output: ClassVar[str] = "sentence_embedding"
    prompted: ClassVar[bool] = True

    def fits(self, source: Source) -> bool:  # noqa: ARG002
        """Whatever a model was trained for, its tokens have embeddings."""
        return True

    def recipe(self, source: Source) -> Recipe:
        """The steps that the source lists."""
        return source.recipe
