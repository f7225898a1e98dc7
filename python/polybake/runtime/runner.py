"""Texts in, vectors out: what every client does, for all that the core runs."""

from collections.abc import Callable, Iterator, Sequence
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
from polybake.runtime.feeds import feeds
from polybake.runtime.session import run
from polybake.runtime.tokenization.pairs import join
from polybake.runtime.tokenization.tokenizer import BakedTokenizer

#: Tokens of one batch, by device: on processors what was fastest. The clients have the same.
BUDGETS = {"cpu": 512, "cuda": 16_384}

#: Bounds the pairs of tokens of a batch at so many times its budget.
_PAIRS = 512

#: Pairs of tokens of all batches side by side: those of one text of 8,192 tokens.
_PAIRS_AT_ONCE = 8192**2


@dataclass(frozen=True)
class Runner:
    """A graph with the contract and the tokenizer that it is run by.

    A prompt of None is the contract's default, as in the clients' ``embed``.

    Attributes:
        session: Of the graph.
        at_once: Batches that run side by side, each on the session's threads.
        budget: Tokens of one batch, padding included; a longer row stands alone.
    """

    session: ort.InferenceSession
    contract: Contract
    tokenizer: BakedTokenizer
    at_once: int = 1
    budget: int = BUDGETS["cpu"]

    def ids(self, texts: Sequence[Text], prompt: str | None = None) -> list[list[int]]:
        """The token ids of each text with its prompt, or of each pair, with their types packed.

        Raises:
            InputError: the model has no such prompt, or one text is too long for its pair.
        """
        name = self._name(prompt)
        before = "" if name is None else self.contract.prompts[name]
        return tokenized(self.contract, self.tokenizer, texts, before)

    def outputs(
        self, rows: Rows, names: Sequence[str], prompt: str | None = None, length: int = 0
    ) -> list[NDArray[Any]]:
        """Run rows of token ids as one batch, and give the outputs of these names.

        Args:
            rows: Token ids; a row without any is all padding.
            names: Of the graph's outputs.
            prompt: Whose ``prompt_value`` is fed, where the model takes one.
            length: Pad to this many tokens when no row is longer.

        Raises:
            CheckFailed: the model stops at these ids, or does not end.
        """
        return run(self.session, names, feeds(self.contract, rows, self._name(prompt), length))

    def vectors(self, rows: Rows, prompt: str | None = None, length: int = 0) -> NDArray[Any]:
        """Run rows as one batch: ``[vectors, dimension]``, of the contract's dtype."""
        return self.outputs(rows, [self.contract.output.name], prompt, length)[0]

    def of_each(self, rows: Rows, prompt: str | None = None) -> list[NDArray[Any]]:
        """Run rows as one batch: ``[vectors, dimension]`` of each row, mostly one."""
        output = self.contract.output
        if output.counts is None:
            return [*self.vectors(rows, prompt)[:, None]]
        vectors, counts = self.outputs(rows, [output.name, output.counts], prompt)
        return np.split(vectors, np.cumsum(counts)[:-1])

    def embed(
        self,
        rows: Rows,
        prompt: str | None = None,
        *,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[Any]:
        """Run any number of rows in batches of similar length: ``[vectors, dimension]``.

        Equal rows give equal batches, whatever ``at_once`` is. A row that is longer than a batch
        runs alone where the session has several threads: there is work for all of them in it.
        Where it has one, as many run side by side as have no more pairs of tokens than one text of
        8,192, whose attention a machine must hold.

        Args:
            rows: Token ids.
            prompt: As of `outputs`.
            progress: Told how many rows a batch had, when it is done, from any thread.
        """
        output = self.contract.output
        found = [np.empty((0, output.dimension), output.dtype)] * (len(rows) + 1)

        def fill(batch: list[int]) -> None:
            given = self.of_each([rows[place] for place in batch], prompt)
            for place, vectors in zip(batch, given, strict=True):
                found[place] = vectors
            if progress is not None:
                progress(len(batch))

        cut = _batches(rows, self.budget)
        for at_once, group in groupby(cut, lambda batch: self._at_once(len(rows[batch[0]]))):
            batches = list(group)
            if min(at_once, len(batches)) > 1:
                with ThreadPoolExecutor(at_once) as pool:
                    list(pool.map(fill, batches))
            else:
                for batch in batches:
                    fill(batch)
        return np.concatenate(found)

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
    """The rows of texts, or of pairs, that a graph of this contract takes.

    Args:
        contract: Says how pairs are joined.
        tokenizer: Of the model file.
        texts: Each a text, or a pair where the contract joins pairs.
        before: The text of a prompt.

    Raises:
        InputError: a text where a pair is wanted, or a pair where a text is; or only one text of a
            pair may be cut, and the other leaves no room for it.
    """
    single = [text for text in texts if isinstance(text, str)]
    pairs = [text for text in texts if not isinstance(text, str)]
    if pairs if contract.pair is None else single:
        expected = "texts" if contract.pair is None else "pairs of texts"
        raise InputError(f"a model of the task {contract.task!r} takes {expected}; give a list")
    if contract.pair is None:
        return tokenizer.encode([before + text for text in single])
    parts = list(dict.fromkeys(part for pair in pairs for part in pair))
    ids = dict(zip(parts, tokenizer.encode(parts), strict=True))
    rows = (join(contract.pair, ids[a], ids[b], contract.max_length) for a, b in pairs)
    return [packed(*row, contract.vocab_size) for row in rows]


def _batches(rows: Rows, budget: int) -> Iterator[list[int]]:
    """The places of rows that go together, longest first, so that little of a batch is padding."""
    places = sorted(range(len(rows)), key=lambda place: len(rows[place]), reverse=True)
    while places:
        longest = max(1, len(rows[places[0]]))
        # Layers hold a number for each token, attention one for each pair of a row's tokens.
        size = max(1, min(budget // longest, _PAIRS * budget // longest**2))
        yield places[:size]
        del places[:size]
