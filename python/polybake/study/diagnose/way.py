"""A way from texts to vectors, such as the model file's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.rows import Rows
from polybake.runtime.feeds import feeds
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.study.diagnose.dissection import Changed, Dissection, NamedArrays

Vectors = NDArray[np.floating[Any]]

#: All texts are one batch, up to the largest batch that anybody uses.
ALL = 1024


@dataclass(frozen=True)
class Way:
    """What happens at each stage; None means what the model file does.

    Attributes:
        text: Rewrites a text before its prompt is added.
        prompt: The prompt before a text.
        tokens: Makes rows of token ids from texts.
        batch: How many texts a batch has, in their order; else batches have rows of like length.
        feed: Makes the arrays of a batch of rows, with at least a given number of tokens.
        masked: Whether the steps see the texts' own mask, whatever the encoder was fed.
        graph: Changes the model's graph.
        layer: The name of the value that is taken as the encoder's output.
        pool: Makes a vector from a text's token embeddings and the values of the batch.
        left_out: The place of a step that is left out.
        stored: Changes the finished vectors.
    """

    text: Callable[[str], str] | None = None
    prompt: str | None = None
    tokens: Callable[[BakedTokenizer, list[str]], Rows] | None = None
    batch: int | None = None
    feed: Callable[[Contract, Rows, int], NamedArrays] | None = None
    masked: Literal[True] | None = None
    graph: Changed | None = None
    layer: str | None = None
    pool: Callable[[NDArray[Any], NamedArrays], NDArray[Any]] | None = None
    left_out: int | None = None
    stored: Callable[[Vectors], Vectors] | None = None

    @property
    def stages(self) -> frozenset[str]:
        """The stages that differ from the model file."""
        return frozenset(item.name for item in fields(self) if getattr(self, item.name) is not None)

    @property
    def layers(self) -> bool:
        """Whether the run gives the layers' outputs, too: one session then serves all layers."""
        return self.graph is None or self.layer is not None


_Row = tuple[int, ...]

#: The tokens of a batch, with padding, if the way does not set batches.
_BUDGET = 512


class Ways:
    """Runs ways on the same texts, which are in the order of their batches.

    Only the vectors at ``places`` are wanted; None means all.
    """

    def __init__(
        self,
        model: Dissection,
        texts: Sequence[str],
        prompt: str | None,
        places: Sequence[int] | None = None,
    ) -> None:
        self.model = model
        self.texts = texts
        self.prompt = prompt
        self.places = tuple(range(len(texts)) if places is None else map(int, places))
        self._rows = cache(self._tokenized)
        self._known: dict[tuple[object, ...], dict[_Row, NDArray[Any]]] = {}

    def rows(self, way: Way) -> tuple[_Row, ...]:
        """Return the token ids of each text."""
        return self._rows(way.text, way.prompt, way.tokens, self.places)

    def fed(self, way: Way) -> tuple[Any, ...]:
        """Return what costs: the graph and its input. Most rewriting changes no token."""
        return (self.rows(way), way.batch, way.feed, way.masked, way.graph, way.layers)

    def vectors(self, way: Way) -> Vectors:
        """Return the vectors, ``[texts, dimension]``."""
        rows = self.rows(way)
        if way.feed is None and way.batch in (None, 1):
            x = self._of_rows(way, rows)
        else:
            x = self._of_batches(way, self._batches(way, rows))
        return x if way.stored is None else way.stored(x)

    def _of_rows(self, way: Way, rows: Sequence[_Row]) -> Vectors:
        """Return vectors of rows that do not depend on their batch; known rows do not run again."""
        key = (way.batch, way.graph, way.layer, way.pool, way.left_out)
        vectors = self._known.setdefault(key, {})
        missing = [row for row in dict.fromkeys(rows) if row not in vectors]
        if missing:
            alike = _alike(missing, _BUDGET if way.batch is None else 0)
            batches = [_Batch([missing[index] for index in places], places) for places in alike]
            vectors.update(zip(missing, self._of_batches(way, batches), strict=True))
        return np.stack([vectors[row] for row in rows])

    def _of_batches(self, way: Way, batches: Sequence[_Batch]) -> Vectors:
        contract = self.model.manifest.contract
        vectors = []
        for batch in batches:
            feed = way.feed or partial(_own_feed, self.prompt)
            arrays = feed(contract, batch.rows, batch.width)
            values = self.model.values(arrays, way.graph, layers=way.layers)
            if way.masked:
                values = {**values, **_mask(contract, batch.rows, arrays)}
            vectors.append(self._finished(way, values)[: len(batch.places)])
        places = [index for batch in batches for index in batch.places]
        x: Vectors = np.concatenate(vectors)[np.argsort(places)]
        return x

    def _finished(self, way: Way, values: NamedArrays) -> Vectors:
        """Run the steps on the encoder's output for a batch."""
        x = values[way.layer or self.model.states[0]]
        for index in range(len(self.model.manifest.steps)):
            if way.pool is not None and index == self.model.pooled_at:
                x = way.pool(x, values)
            elif index != way.left_out:
                x = self.model.step(index, values, x)
        return x

    def _tokenized(
        self,
        text: Callable[[str], str] | None,
        prompt: str | None,
        tokens: Callable[[BakedTokenizer, list[str]], Rows] | None,
        places: tuple[int, ...],
    ) -> tuple[_Row, ...]:
        """Return the token ids of the texts at these places."""
        own = self.model.manifest.contract.prompts[self.prompt] if self.prompt is not None else ""
        before = own if prompt is None else prompt
        own_texts = [self.texts[index] for index in places]
        texts = [before + (text(content) if text else content) for content in own_texts]
        tokenizer = self.model.tokenizer
        rows = tokens(tokenizer, texts) if tokens else tokenizer.encode(texts)
        return tuple(map(tuple, rows))

    def _batches(self, way: Way, rows: Sequence[_Row]) -> list[_Batch]:
        """Return the wanted rows, as wide as the batches of all texts make them.

        A changed graph may depend on the whole batch, as dynamic int8 does: it gets whole batches.
        """
        batches, size = [], way.batch or 1
        for number in sorted({index // size for index in self.places}):
            members = tuple(range(number * size, min((number + 1) * size, len(self.texts))))
            beside = self._rows(way.text, way.prompt, way.tokens, members)
            width = max(map(len, beside))
            slots = [row for row, index in enumerate(self.places) if index // size == number]
            if way.graph is not None:
                rest = [item for item in members if item not in {self.places[row] for row in slots}]
                group = [
                    *(rows[row] for row in slots),
                    *(beside[item - members[0]] for item in rest),
                ]
                batches.append(_Batch(group, slots))
                continue
            several = max(1, _BUDGET // max(1, width))
            for first in range(0, len(slots), several):
                some = slots[first : first + several]
                batches.append(_Batch([rows[row] for row in some], some, width))
        return batches


@dataclass(frozen=True)
class _Batch:
    """Rows that run together; the first rows are the wanted ones, at ``places``."""

    rows: list[_Row]
    places: list[int]
    width: int = 0


def _own_feed(prompt: str | None, contract: Contract, rows: Rows, width: int) -> NamedArrays:
    return feeds(contract, rows, prompt, width)


def _mask(contract: Contract, rows: Rows, arrays: NamedArrays) -> NamedArrays:
    """Return the mask of the texts, as wide as what was fed."""
    keys = {item.name for item in contract.inputs if item.feed == "attention_mask"}
    width = next(arrays[name].shape[1] for name in keys)
    return {name: mask for name, mask in feeds(contract, rows, None, width).items() if name in keys}


def _alike(rows: Sequence[_Row], budget: int) -> list[list[int]]:
    """Return batches of places whose rows are of like length."""
    batches: list[list[int]] = []
    for index in sorted(range(len(rows)), key=lambda index: -len(rows[index])):
        if batches and (len(batches[-1]) + 1) * len(rows[batches[-1][0]]) <= budget:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches
