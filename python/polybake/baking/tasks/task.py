"""What a model file is for."""

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Recipe, Source
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut
from polybake.runtime.tokenization.words import Chunk


@dataclass(frozen=True)
class Known:
    """What a client knows besides the graph.

    Attributes:
        settings: Of the contract.
        token: Names a token by its id.
        chunks: The words of a text, for so many tokens of a row.
    """

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    token: Callable[[int], str] = str
    chunks: Callable[[str, int], list[Chunk]] = lambda *_: []


@dataclass(frozen=True)
class Found:
    """What a graph gives for a golden case, and what its call was given.

    Attributes:
        vectors: ``[rows, columns]``.
        call: What `Task.call` gave.
        known: What a client makes an answer with.
        counts: How many of the rows are each text's; None where it is one.
    """

    vectors: NDArray[np.number[Any]]
    call: Mapping[str, JsonValue] = field(default_factory=dict)
    known: Known = Known()
    counts: NDArray[np.int64] | None = None

    @property
    def rows(self) -> list[NDArray[np.number[Any]]]:
        """Those of each text: ``[rows, columns]``."""
        counts = np.ones(len(self.vectors), np.int64) if self.counts is None else self.counts
        return np.split(self.vectors, np.cumsum(counts)[:-1])


class Task(abc.ABC):
    """Says which steps end the graph, what its output is called, and what clients make of it.

    Attributes:
        name: What polybake.toml and the contract call it.
        output: The graph's first output.
        hub_tag: What the Hugging Face hub calls it, as a ``pipeline_tag``.
        prompted: Whether its clients put prompts before texts.
        cut: Which text of a pair is cut where both are too long; None where rows are single texts.
        seeks: Whether answers are sought in the second text of a pair.
        labelled: Whether the columns of its output have labels.
        probabilities: Whether its output is of these, of which small ones mean little.
    """

    name: ClassVar[str]
    output: ClassVar[str]
    hub_tag: ClassVar[str] = "feature-extraction"
    prompted: ClassVar[bool] = False
    cut: ClassVar[Cut | None] = None
    seeks: ClassVar[bool] = False
    labelled: ClassVar[bool] = False
    probabilities: ClassVar[bool] = False

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:  # noqa: ARG002
        """What the rows of a golden case are made of, such as pairs, or parts of long texts."""
        return texts

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue] | None:  # noqa: ARG002
        """What a client's own call is given for a golden case; None where vectors are all."""
        return None

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

    def answer(self, found: Found) -> JsonValue:  # noqa: ARG002
        """What that call gives where the graph gives these vectors."""
        return None
