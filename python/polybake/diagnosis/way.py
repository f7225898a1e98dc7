"""One way from texts to vectors, of which the model file's own is one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from polybake.diagnosis.dissected import Arrays, Changed, Dissected
from polybake.modelfile.manifest import Contract
from polybake.modelfile.rows import Rows
from polybake.runtime.feeds import feeds
from polybake.tokenization.tokenizer import BakedTokenizer

Vectors = NDArray[np.floating[Any]]

#: All texts are one batch.
ALL = sys.maxsize


@dataclass(frozen=True)
class Way:
    """What is done at each stage; None is what the model file does.

    Attributes:
        text: Rewrites a text before its prompt is put before it.
        prompt: The text that is put before a text.
        tokens: The rows of token ids of texts.
        batch: How many texts a batch has, in their order; else rows of like length are one.
        feed: The arrays of a batch of rows.
        masked: The steps see the texts' own mask, whatever the encoder was fed.
        graph: Makes another graph of the model's.
        layer: The name of the value that is taken for what the encoder gives.
        pool: Makes one vector of a text's token embeddings, given the values of the batch.
        left_out: The place of a step that is not done.
        stored: What became of the vectors afterwards.
    """

    text: Callable[[str], str] | None = None
    prompt: str | None = None
    tokens: Callable[[BakedTokenizer, list[str]], Rows] | None = None
    batch: int | None = None
    feed: Callable[[Contract, Rows], Arrays] | None = None
    masked: Literal[True] | None = None
    graph: Changed | None = None
    layer: str | None = None
    pool: Callable[[NDArray[Any], Arrays], NDArray[Any]] | None = None
    left_out: int | None = None
    stored: Callable[[Vectors], Vectors] | None = None

    @property
    def stages(self) -> frozenset[str]:
        """Those at which something else is done."""
        return frozenset(one.name for one in fields(self) if getattr(self, one.name) is not None)


#: Tokens of a batch, padding included, where the way says nothing of batches.
_BUDGET = 512

#: Ways whose encoded texts are kept, all layers of them; the file's own are asked for most.
_KEPT = 3


class Ways:
    """What ways give of the same texts.

    Args:
        model: The model file.
        texts: One or more.
        prompt: The name of the prompt that the file's own vectors have.
    """

    def __init__(self, model: Dissected, texts: Sequence[str], prompt: str | None) -> None:
        self.model = model
        self.texts = texts
        self.prompt = prompt
        self._rows = cache(self._tokenized)
        self._values = lru_cache(_KEPT)(self._run)

    def fed(self, way: Way) -> tuple[Any, ...]:
        """What the graph is run on, and which graph: what costs. Most rewriting changes no token.

        Raises:
            Exception: of whatever kind the tokenizer has, where a way does not fit it.
        """
        rows = self._rows(way.text, way.prompt, way.tokens)
        return (rows, way.batch, way.feed, way.masked, way.graph)

    def vectors(self, way: Way) -> Vectors:
        """``[texts, dimension]``.

        Raises:
            Exception: of whatever kind the runtime has, where a way does not fit the model.
        """
        batches = self._values(*self.fed(way))
        x = np.concatenate([self._finished(way, values) for values, _ in batches])
        x = x[np.argsort(np.concatenate([places for _, places in batches]))]
        return x if way.stored is None else way.stored(x)

    def _finished(self, way: Way, values: Arrays) -> Vectors:
        """The steps over what the encoder gave a batch."""
        x = values[way.layer or self.model.states[0]]
        for place in range(len(self.model.manifest.steps)):
            if way.pool is not None and place == self.model.pooled_at:
                x = way.pool(x, values)
            elif place != way.left_out:
                x = self.model.step(place, values, x)
        return x

    def _tokenized(
        self,
        text: Callable[[str], str] | None,
        prompt: str | None,
        tokens: Callable[[BakedTokenizer, list[str]], Rows] | None,
    ) -> tuple[tuple[int, ...], ...]:
        """The token ids of the texts."""
        own = self.model.manifest.contract.prompts[self.prompt] if self.prompt is not None else ""
        before = own if prompt is None else prompt
        texts = [before + (text(one) if text else one) for one in self.texts]
        tokenizer = self.model.tokenizer
        rows = tokens(tokenizer, texts) if tokens else tokenizer.encode(texts)
        return tuple(map(tuple, rows))

    def _run(
        self,
        rows: tuple[tuple[int, ...], ...],
        batch: int | None,
        feed: Callable[[Contract, Rows], Arrays] | None,
        masked: Literal[True] | None,
        graph: Changed | None,
    ) -> list[tuple[Arrays, list[int]]]:
        """What the graph gives each batch, and the places of its texts."""
        contract = self.model.manifest.contract
        found = []
        for places in _batches(rows, batch):
            taken = [rows[place] for place in places]
            given = feed(contract, taken) if feed else feeds(contract, taken, self.prompt)
            values = self.model.values(given, graph)
            if masked:
                values = {**values, **_mask(contract, taken, given)}
            found.append((values, places))
        return found


def _mask(contract: Contract, rows: Rows, given: Arrays) -> Arrays:
    """The mask of the texts, as wide as what was fed."""
    names = {one.name for one in contract.inputs if one.feed == "attention_mask"}
    width = next(given[name].shape[1] for name in names)
    return {name: one for name, one in feeds(contract, rows, None, width).items() if name in names}


def _batches(rows: Rows, size: int | None) -> list[list[int]]:
    """The places of so many rows, or else of rows of like length."""
    if size is not None:
        return [[*range(len(rows))[first : first + size]] for first in range(0, len(rows), size)]
    batches: list[list[int]] = []
    for place in sorted(range(len(rows)), key=lambda place: -len(rows[place])):
        if batches and (len(batches[-1]) + 1) * len(rows[batches[-1][0]]) <= _BUDGET:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches
