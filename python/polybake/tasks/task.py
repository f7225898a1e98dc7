"""What a model file is for."""

import abc
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.sources.source import Recipe, Source


class Task(abc.ABC):
    """Says which steps end the graph, what its output is called, and what clients make of it.

    Attributes:
        name: What polybake.toml and the contract call it.
        output: The graph's first output.
        prompted: Whether its clients put prompts before texts.
    """

    name: ClassVar[str]
    output: ClassVar[str]
    prompted: ClassVar[bool] = False

    @abc.abstractmethod
    def fits(self, source: Source) -> bool:
        """Whether this is what the source was trained for."""

    @abc.abstractmethod
    def recipe(self, source: Source) -> Recipe:
        """The steps of a model for which polybake.toml lists none.

        Raises:
            InputError: the model was not trained for this task.
        """

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:  # noqa: ARG002
        """What the contract tells clients besides; most tasks need nothing.

        Args:
            source: The model.
            columns: Elements of the output of one text.

        Raises:
            InputError: it does not fit the output.
        """
        return {}

    def answer(
        self,
        found: NDArray[np.number[Any]],  # noqa: ARG002
        settings: dict[str, JsonValue],  # noqa: ARG002
    ) -> JsonValue:
        """What a client's call gives for ``[texts, columns]``; None where these are it."""
        return None
