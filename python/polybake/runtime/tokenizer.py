"""The tokenizer of a model file: everything is baked in that tokenisation needs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Self

from tokenizers import Encoding, Tokenizer

from polybake.base.modelfile.manifest import NO_LIMIT, Contract, TokenizerDifference
from polybake.errors import InputError

Side = Literal["right", "left"]


@dataclass(frozen=True)
class BakedTokenizer:
    """A tokenizer in the form that the model file carries.

    Attributes:
        json: The whole tokenizer.json: truncation set if there is a limit, padding null.
        max_length: The most tokens of a text, with special tokens, or `NO_LIMIT`.
        pad_id: The id of padding.
        pad_side: The side that is padded.
        note: A sentence for the user on where it comes from.
        differs: What transformers 5 makes differently of the tokenizer.json that it is; None for
            nothing.
    """

    json: str = field(repr=False)
    max_length: int
    pad_id: int
    pad_side: Side
    note: str = field(default="", compare=False)
    differs: TokenizerDifference | None = field(default=None, compare=False)

    @classmethod
    def of(cls, text: str, contract: Contract) -> Self:
        """Return the tokenizer of a model file; its contract holds the other facts."""
        return cls(text, contract.max_length, contract.pad_id, contract.pad_side)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Turn each text into token ids, special tokens included, cut at ``max_length``."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def bare(self, texts: Sequence[str]) -> list[Encoding]:
        """Turn each text into tokens without special tokens, cut at ``max_length``."""
        return self._tokenizer.encode_batch(list(texts), add_special_tokens=False)

    def count(self, text: str) -> int:
        """Count a text's tokens, special tokens included, without cutting it."""
        # A batch, as the library lets other threads run only during batches.
        return len(self.untruncated.encode_batch_fast([text])[0])

    def beginning(self, text: str) -> list[int]:
        """Return the ids of a text without a special token behind it."""
        ids = self.encode([text])[0]
        last = self._tokenizer.get_added_tokens_decoder().get(ids[-1]) if ids else None
        return ids[:-1] if last is not None and last.special else ids

    def token(self, number: int) -> str:
        """Return the token of an id; empty without one, as for rows that fill up a table."""
        return self._tokenizer.id_to_token(number) or ""

    def id_of(self, token: str) -> int | None:
        """Return the id of a token; None if the token is unknown."""
        return self._tokenizer.token_to_id(token)

    def cut_right(self) -> Self:
        """Return the tokenizer that cuts the end of long texts."""
        return self._cut(self.max_length, "right")

    def cut_at(self, max_length: int) -> Self:
        """Return the tokenizer that cuts texts at another limit; `NO_LIMIT` cuts none."""
        return self._cut(max_length, self.cut_side)

    @property
    def cut_side(self) -> Side:
        """The side on which long texts are cut."""
        cut = json.loads(self.json).get("truncation")
        return "left" if cut and cut["direction"] == "Left" else "right"

    def with_parts(self, **parts: object) -> Self:
        """Return the tokenizer with other values of these keys of tokenizer.json."""
        data = json.loads(self.json) | parts
        return replace(self, json=json.dumps(data, ensure_ascii=True, separators=(",", ":")))

    def _cut(self, max_length: int, side: Side) -> Self:
        cut = None if max_length == NO_LIMIT else truncation(max_length, side)
        return replace(self.with_parts(truncation=cut), max_length=max_length)

    @property
    def special_tokens(self) -> tuple[int, int]:
        """How many stand before a text, and how many behind it."""
        encoding = self.untruncated.encode("a")
        own = [index for index, text in enumerate(encoding.sequence_ids) if text is not None]
        return (own[0], len(encoding.ids) - 1 - own[-1]) if own else (0, 0)

    @cached_property
    def untruncated(self) -> Tokenizer:
        """The same without a limit."""
        tokenizer = self._read()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._read()

    def _read(self) -> Tokenizer:
        try:
            return Tokenizer.from_str(self.json)
        except Exception as error:  # tokenizers raises bare Exception
            raise InputError(
                f"the tokenizer cannot be read by tokenizers ({error}); bake the model again"
            ) from error


def truncation(max_length: int, side: Side = "right") -> dict[str, object]:
    """Return the part of tokenizer.json that truncates a text to so many tokens on a side."""
    return {
        "direction": side.capitalize(),
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
