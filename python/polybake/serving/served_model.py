"""A model file that is served."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.fixture import Text
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.runtime.pairs import surrounded
from polybake.runtime.prompt import Prompt
from polybake.serving.limits import Limits
from polybake.serving.refusal import Refusal
from polybake.serving.request_queue import RequestQueue, Vectors
from polybake.serving.work import WORK


@dataclass(frozen=True)
class Answered:
    """A model's answer to the texts of a request.

    Attributes:
        vectors: ``[vectors, dimension]`` for each text.
        tokens: The number of tokens of all texts, with special tokens.
    """

    vectors: list[Vectors]
    tokens: int

    @property
    def single(self) -> NDArray[Any]:
        """The vectors as ``[texts, dimension]``, if each text has one vector."""
        return np.concatenate(self.vectors)


class ServedModel:
    """A model file that is served, with its batches."""

    def __init__(self, embedder: Embedder, *, most: int, matryoshka: bool = False) -> None:
        self.embedder = embedder
        self.manifest = embedder.manifest
        self.contract = embedder.manifest.contract
        # Each row's prompt is known, so there is no default prompt.
        contract = self.contract.model_copy(update={"default_prompt": None})
        self._runner = replace(embedder.runner, contract=contract)
        if matryoshka and self.contract.output.dtype != "float32":
            raise InputError(
                f"{embedder.path}: gives {self.contract.output.readable}, which cannot be cut; "
                "serve it without --matryoshka"
            )
        self.matryoshka = matryoshka
        self.normalized = embedder.manifest.steps[-1:] == ("normalize()",)
        cut = json.loads(embedder.head.tokenizer)["truncation"]
        self.cuts = cut["direction"] if cut else "Right"
        before, after = embedder.runner.tokenizer.special_tokens
        (empty,) = embedder.runner.tokenizer.encode([""])
        self._specials = empty[:before], empty[len(empty) - after :]
        self.most = most
        self._queue: RequestQueue | None = None
        self.ready = False

    @property
    def name(self) -> str:
        """The name by which requests choose the model."""
        return self.manifest.name

    @property
    def waiting(self) -> int:
        """Tokens that wait."""
        return self._queue.waiting if self._queue else 0

    def start(self, limits: Limits, ran: Callable[[int], None]) -> None:
        """Take requests, from within the loop that serves them; ``ran`` has each batch's rows."""
        self._queue = RequestQueue(
            self._runner, wait=limits.wait, limit=limits.waiting, within=limits.timeout, ran=ran
        )
        self.ready = True

    async def close(self) -> None:
        """Take no more requests, and end when the accepted ones are done."""
        self.ready = False
        if self._queue:
            await self._queue.close()

    async def of_texts(
        self, texts: Sequence[Text], prompt: Prompt | None = None, *, cut: bool = True
    ) -> Answered:
        """Run the texts, or pairs of texts, of a request."""
        self._check_number(len(texts))
        try:
            name = (prompt or Prompt()).contract(self.contract).default_prompt
            rows = await asyncio.to_thread(self._rows, texts, name, cut)
        except InputError as error:
            raise Refusal("validation", str(error)) from error
        except (UnicodeEncodeError, TypeError) as error:
            raise Refusal("validation", "a text is not valid Unicode; repair or drop it") from error
        return await self._of_rows(rows, name)

    async def of_inputs(
        self, given: Sequence[str | list[int]], prompt: Prompt, *, cut: bool = True
    ) -> Answered:
        """Run texts with a prompt, or rows of token ids, which include their prompt."""
        texts = [item for item in given if isinstance(item, str)]
        if texts or not given:
            return await self.of_texts(texts, prompt, cut=cut)
        if prompt != Prompt():
            raise Refusal("validation", "token ids hold their prompt; leave prompt and type out")
        return await self.of_ids([item for item in given if not isinstance(item, str)])

    async def of_ids(self, rows: Sequence[list[int]]) -> Answered:
        """Run rows of token ids, with special tokens."""
        self._check_number(len(rows))
        faults = await asyncio.to_thread(lambda: [*map(self._wrong, rows)])  # may be millions
        for index, fault in enumerate(faults):
            if fault:
                raise Refusal("validation", f"text {index} {fault}")
        return await self._of_rows(rows, None)

    def _wrong(self, ids: list[int]) -> str | None:
        """Return why no text has these token ids; None if a text may have them."""
        size, most = self.contract.vocab_size, self.contract.max_length
        unknown = next((token for token in ids if not 0 <= token < size), None)
        if unknown is not None:
            return f"has the token id {unknown}; expected 0 to {size - 1}"
        if not ids:
            return "has no token ids; leave it out"
        if len(ids) > most:
            return f"has {len(ids)} tokens; expected {most} or less"
        first, last = self._specials
        if ids[: len(first)] != first or ids[len(ids) - len(last) :] != last:
            shown = ", ".join([*map(str, first), "...", *map(str, last)])
            return (
                f"lacks the special tokens of {self.name}'s tokenizer; expected token ids "
                f"[{shown}], or send texts (LangChain's OpenAIEmbeddings: "
                "check_embedding_ctx_length=False)"
            )
        return None

    def _rows(self, texts: Sequence[Text], prompt: str | None, cut: bool) -> list[list[int]]:
        """Return the token ids of texts; refuse a text that is too long if it may not be cut."""
        rows = self._runner.ids(texts, prompt)
        most = self.contract.max_length
        for index, (text, row) in enumerate(zip(texts, rows, strict=True)):
            if cut or len(row) < most:
                continue
            tokens = self._tokens(text, prompt)
            if tokens > most:
                raise InputError(
                    f"text {index} has {tokens} tokens; expected {most} or less, or truncate"
                )
        return rows

    def _tokens(self, text: Text, prompt: str | None) -> int:
        """How many tokens a text with its prompt, or a pair, has before it is cut."""
        count = self._runner.tokenizer.count
        if isinstance(text, str):
            return count(text if prompt is None else self.contract.prompts[prompt] + text)
        if self.contract.pair is None:
            return sum(map(count, text))
        return sum(map(count, surrounded(self.contract.pair, text))) + self.contract.pair.special

    async def _of_rows(self, rows: Sequence[list[int]], prompt: str | None) -> Answered:
        if self._queue is None or not self.ready:
            raise Refusal("overloaded", "is not ready; ask again later", status=503, retry_after=1)
        work, most = WORK.get(), self.contract.max_length
        work.model, work.texts, work.tokens = self.name, len(rows), sum(map(len, rows))
        work.at_limit = sum(len(row) >= most for row in rows)
        return Answered(await self._queue.vectors(rows, prompt), work.tokens)

    def _check_number(self, number: int) -> None:
        if not 1 <= number <= self.most:
            raise Refusal(
                "validation",
                f"{number} texts; expected 1 to {self.most}",
                status=422 if number < 1 else 413,
            )
