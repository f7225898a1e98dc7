"""Texts in, vectors out: the core's counterpart of every client."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from polybake.base.modelfile.fixture import Text
from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.rows import Rows, packed
from polybake.errors import InputError
from polybake.runtime.batching import BUDGETS, batches
from polybake.runtime.feeds import feeds
from polybake.runtime.pairs import join, surrounded
from polybake.runtime.session import run
from polybake.runtime.tokenizer import BakedTokenizer

#: The most pairs of tokens of all batches at a time: those of a text of 8,192 tokens.
_PAIRS_AT_ONCE = 8192**2


@dataclass(frozen=True)
class Runner:
    """A graph with its contract and its tokenizer.

    A prompt of None is the contract's default, as in the clients' ``embed``.

    Attributes:
        session: The graph's session.
        at_once: Batches that run at the same time, each on the session's threads.
        budget: The tokens of a batch, with padding; a longer row is a batch of its own.
    """

    session: ort.InferenceSession
    contract: Contract
    tokenizer: BakedTokenizer
    at_once: int = 1
    budget: int = BUDGETS["cpu"]

    def ids(self, texts: Sequence[Text], prompt: str | None = None) -> list[list[int]]:
        """Return the token ids of each text with its prompt, or of each pair, with packed types."""
        name = self._name(prompt)
        before = "" if name is None else self.contract.prompts[name]
        return tokenized(self.contract, self.tokenizer, texts, before)

    def outputs(
        self, rows: Rows, names: Sequence[str], prompt: str | None = None, length: int = 0
    ) -> list[NDArray[Any]]:
        """Run rows of token ids as one batch, and return the named outputs."""
        return run(self.session, names, feeds(self.contract, rows, self._name(prompt), length))

    def vectors(self, rows: Rows, prompt: str | None = None, length: int = 0) -> NDArray[Any]:
        """Run rows as one batch: ``[vectors, dimension]``, of the contract's dtype."""
        return self.outputs(rows, [self.contract.output.name], prompt, length)[0]

    def of_each(self, rows: Rows, prompt: str | None = None) -> list[NDArray[Any]]:
        """Run rows as one batch; return ``[vectors, dimension]`` for each row, mostly 1 vector."""
        output = self.contract.output
        if output.counts is None:
            return [*self.vectors(rows, prompt)[:, None]]
        vectors, counts = self.outputs(rows, [output.name, output.counts], prompt)
        return np.split(vectors, np.cumsum(counts)[:-1])

    def of_all(
        self, rows: Rows, prompt: str | None = None, length: int = 0
    ) -> dict[str, list[NDArray[Any]]]:
        """Run rows as one batch; return what `of_each` does, of each output by its name."""
        outputs = self.contract.outputs
        counted = dict.fromkeys(output.counts for output in outputs if output.counts is not None)
        names = [*(output.name for output in outputs), *counted]
        arrays = dict(zip(names, self.outputs(rows, names, prompt, length), strict=True))
        return {
            output.name: [*arrays[output.name][:, None]]
            if output.counts is None
            else np.split(arrays[output.name], np.cumsum(arrays[output.counts])[:-1])
            for output in outputs
        }

    def embed(
        self,
        rows: Rows,
        prompt: str | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[Any]:
        """Run any number of rows in batches of similar length: ``[vectors, dimension]``.

        Equal rows give equal batches, whatever ``at_once`` is. If the session has several threads,
        a row that is longer than a batch runs alone, as it has work for all threads. If the session
        has one thread, long rows run at the same time as long as they have no more pairs of tokens
        than a text of 8,192 tokens, whose attention a machine must hold.
        """
        output = self.contract.output
        arrays = [np.empty((0, output.dimension), output.dtype)] * (len(rows) + 1)

        def fill(batch: list[int]) -> None:
            answers = self.of_each([rows[index] for index in batch], prompt)
            for index, vectors in zip(batch, answers, strict=True):
                arrays[index] = vectors
            if progress is not None:
                progress(len(batch))

        cut = batches(rows, self.budget)
        for at_once, group in groupby(cut, lambda batch: self._at_once(len(rows[batch[0]]))):
            alike = list(group)
            if min(at_once, len(alike)) > 1:
                with ThreadPoolExecutor(at_once) as pool:
                    list(pool.map(fill, alike))
            else:
                for batch in alike:
                    fill(batch)
        return np.concatenate(arrays)

    def _at_once(self, longest: int) -> int:
        """Batches that run side by side, by the tokens of their longest row."""
        if longest > self.budget and self.session.get_session_options().intra_op_num_threads != 1:
            return 1
        return min(self.at_once, max(1, _PAIRS_AT_ONCE // max(1, longest) ** 2))

    def _name(self, prompt: str | None) -> str | None:
        name = self.contract.default_prompt if prompt is None else prompt
        if name is not None and name not in self.contract.prompts:
            known = ", ".join(self.contract.prompts)
            raise InputError(
                f"unknown prompt {name!r}; {f'choose one of: {known}' if known else 'leave it out'}"
            )
        return name


def tokenized(
    contract: Contract, tokenizer: BakedTokenizer, texts: Sequence[Text], before: str = ""
) -> list[list[int]]:
    """Return the rows of texts, or of pairs, that a graph of this contract takes."""
    single = [text for text in texts if isinstance(text, str)]
    pairs = [text for text in texts if not isinstance(text, str)]
    if pairs if contract.pair is None else single:
        expected = "texts" if contract.pair is None else "pairs of texts"
        raise InputError(f"a model of the task {contract.task!r} takes {expected}; give a list")
    if contract.pair is None:
        return tokenizer.encode([before + text for text in single])
    whole = [surrounded(contract.pair, pair) for pair in pairs]
    parts = list(dict.fromkeys(part for pair in whole for part in pair))
    ids = dict(zip(parts, tokenizer.encode(parts), strict=True))
    rows = [join(contract.pair, ids[a], ids[b], contract.max_length) for a, b in whole]
    return [packed(*row, contract.vocab_size) for row in rows]
