"""The task of a model file."""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import HeadKind, Recipe, Source
from polybake.baking.tokenizer.words import Chunk
from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Cut


@dataclass(frozen=True)
class Known:
    """What a client knows beside the graph.

    Attributes:
        settings: The contract's settings.
        token: Returns a token's name by its id.
        chunks: Splits a text into chunks of words.
        room: How many tokens a text leaves for the one behind it.
    """

    settings: Mapping[str, JsonValue] = field(default_factory=dict)
    token: Callable[[int], str] = str
    chunks: Callable[[str], list[Chunk]] = lambda _: []
    room: Callable[[str], int] = lambda _: 1


@dataclass(frozen=True)
class Outputs:
    """The graph's output for a golden case, and the arguments of the case's call.

    Attributes:
        vectors: ``[rows, columns]``.
        call: The arguments from `Task.call`.
        known: What a client makes an answer with.
        counts: How many rows each text has; None if each has one.
        ids: The token ids of each text.
        further: The rows of each text in each further output, by its name.
    """

    vectors: NDArray[np.number[Any]]
    call: Mapping[str, JsonValue] = field(default_factory=dict)
    known: Known = Known()
    counts: NDArray[np.int64] | None = None
    ids: Sequence[Sequence[int]] = ()
    further: Mapping[str, Sequence[NDArray[np.number[Any]]]] = field(default_factory=dict)

    @property
    def rows(self) -> list[NDArray[np.number[Any]]]:
        """The rows of each text: ``[rows, columns]``."""
        counts = np.ones(len(self.vectors), np.int64) if self.counts is None else self.counts
        return np.split(self.vectors, np.cumsum(counts)[:-1])


class Task(abc.ABC):
    """Defines the steps that end the graph, the name of its output, and the clients' answers.

    Attributes:
        name: Its name in polybake.toml and in the contract.
        output: The name of the graph's first output.
        further_outputs: The names of the others that clients read.
        head: The kind of head whose numbers it takes; None if it takes embeddings.
        hub_tag: Its ``pipeline_tag`` on the Hugging Face hub.
        prompted: Whether its clients put prompts before texts.
        cut: Which text of a pair is cut if they are too long together; None for single texts.
        seeks: Whether answers are sought in the second text of a pair.
        labelled: Whether the columns of its output have labels.
        probabilities: Whether its output holds probabilities, of which small ones mean little.
        by_token: Whether its first output has a row for each token, and not one for each text.
    """

    name: ClassVar[str]
    output: ClassVar[str]
    further_outputs: ClassVar[tuple[str, ...]] = ()
    head: ClassVar[HeadKind | None] = None
    hub_tag: ClassVar[str] = "feature-extraction"
    prompted: ClassVar[bool] = False
    cut: ClassVar[Cut | None] = None
    seeks: ClassVar[bool] = False
    labelled: ClassVar[bool] = False
    probabilities: ClassVar[bool] = False
    by_token: ClassVar[bool] = False

    def texts(self, texts: tuple[str, ...], known: Known) -> tuple[Text, ...]:  # noqa: ARG002
        """Return the inputs of a golden case: the texts, pairs of them, or truncated texts."""
        return texts

    def call(self, texts: tuple[str, ...], known: Known) -> dict[str, JsonValue] | None:  # noqa: ARG002
        """Return the arguments of a client's call for a golden case; None if it returns vectors."""
        return None

    @abc.abstractmethod
    def fits(self, source: Source) -> bool:
        """Return whether the source was trained for this task."""

    @abc.abstractmethod
    def recipe(self, source: Source) -> Recipe:
        """Return the steps of a model for which polybake.toml lists none."""

    def settings(self, source: Source, columns: int) -> dict[str, JsonValue]:  # noqa: ARG002
        """Return the contract's settings for clients; most tasks need none."""
        return {}

    def answer(self, outputs: Outputs) -> JsonValue:  # noqa: ARG002
        """Return the answer to the call if the graph gives these vectors."""
        return None
