"""tokenizer.json, as the tokenizers library writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from tokenizers import Tokenizer

from polybake.baking.tokenizer.characters_map import fault_of
from polybake.baking.tokenizer.slow_patterns import slow_pattern
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError
from polybake.runtime.tokenizer import Side, truncation

#: The most characters of an added token; tokenizers takes gigabytes for a token of megabytes.
_LONGEST_TOKEN = 1024


class Truncation(JsonModel):
    """The truncation of texts."""

    direction: Literal["Left", "Right"] = "Right"
    max_length: int = Field(gt=0)
    strategy: str = "LongestFirst"
    stride: int = 0


class Padding(JsonModel, extra="allow"):
    """How a batch is filled up, which is left to clients."""

    pad_id: int | None = None


class Component(JsonModel, extra="allow"):
    """A normalizer or a pre-tokenizer, or a Sequence of several."""

    type: str | None = None
    pattern: dict[str, str] = Field(default_factory=dict)
    normalizers: list[Component] = Field(default_factory=list)
    pretokenizers: list[Component] = Field(default_factory=list)

    @property
    def parts(self) -> list[Component]:
        """The members of a Sequence and of nested ones; the component itself, if it does more."""
        members = [*self.normalizers, *self.pretokenizers]
        own = [] if members and not self.pattern else [self]
        return [*own, *(part for member in members for part in member.parts)]

    def get(self, key: str, default: object = None) -> object:
        """A setting that only some types have."""
        return (self.model_extra or {}).get(key, default)


class TokenizerJson(JsonModel, extra="allow"):
    """The object in a tokenizer.json; its keys are written in this order."""

    version: str | None = None
    truncation: Truncation | None = None
    padding: Padding | None = None
    added_tokens: list[dict[str, Any]] = Field(default_factory=list)
    normalizer: Component | None = None
    pre_tokenizer: Component | None = None
    post_processor: dict[str, Any] | None = None
    decoder: dict[str, Any] | None = None
    model: dict[str, Any]

    def parts(self, component: Literal["normalizer", "pre_tokenizer"]) -> list[Component]:
        """The normalizers or pre-tokenizers that a text goes through, in order."""
        value: Component | None = getattr(self, component)
        return [] if value is None else value.parts

    def cut_at(self, max_length: int, side: Side = "right") -> TokenizerJson:
        """Return the file that truncates a text to so many tokens on a side."""
        cut = Truncation.model_validate(truncation(max_length, side))
        return self.model_copy(update={"truncation": cut})

    def make(self, folder: ModelFolder) -> tuple[str, Tokenizer]:
        """Make the tokenizer that the file describes.

        Returns:
            The tokenizer's JSON, ASCII only, and the tokenizer.
        """
        path, dropout = folder.path / "tokenizer.json", self.model.get("dropout")
        if dropout:
            raise InputError(
                f"{path}: model.dropout = {dropout!r} gives a text other ids each time, expected "
                "null; set it to null"
            )
        for index, token in enumerate(self.added_tokens):
            length = len(str(token.get("content")))
            if length > _LONGEST_TOKEN:
                raise InputError(
                    f"{path}: added_tokens[{index}] has {length} characters, expected at most "
                    f"{_LONGEST_TOKEN}; drop it"
                )
        fields = self.model_dump(exclude_unset=True)
        text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
        try:
            tokenizer = Tokenizer.from_str(text)
        except Exception as error:  # tokenizers raises bare Exception
            raise InputError(
                f"{path}: cannot be read by tokenizers ({error}); download it again"
            ) from error
        if not self._knows_texts():
            raise InputError(
                f"{path}: its vocabulary has no letter and no digit beside added tokens, as "
                "transformers writes it where the vocabulary's own files are missing; download "
                "the whole model again"
            )
        return text, tokenizer

    def _knows_texts(self) -> bool:
        """Whether a token that is not added has a letter or a digit."""
        contents = {token.get("content") for token in self.added_tokens}
        vocabulary = self.model.get("vocab", ())
        tokens = vocabulary if isinstance(vocabulary, dict) else (token for token, _ in vocabulary)
        return any(any(map(str.isalnum, token)) for token in tokens if token not in contents)


def read_tokenizer(folder: ModelFolder) -> TokenizerJson:
    """Read tokenizer.json."""
    path = folder.needed_file("tokenizer.json")
    tokenizer = folder.read("tokenizer.json", TokenizerJson)
    check_parts(tokenizer, path)
    return tokenizer


def check_parts(tokenizer: TokenizerJson, path: Path) -> None:
    """Refuse patterns and tables of replacements that would end the process of a runtime."""
    parts = [*tokenizer.parts("normalizer"), *tokenizer.parts("pre_tokenizer")]
    patterns = [part.pattern["Regex"] for part in parts if "Regex" in part.pattern]
    slow = slow_pattern(patterns) if patterns else None
    if slow is not None:
        raise InputError(
            f"{path}: the pattern {slow!r} takes too long on some texts, which ends the process of "
            "some runtimes; write it without repetitions of repetitions"
        )
    for part in parts:
        coded = part.get("precompiled_charsmap")
        if part.type == "Precompiled" and coded and (fault := fault_of(str(coded))):
            raise InputError(f"{path}: precompiled_charsmap {fault}; download it again")


def tokens_behind(tokens: Sequence[tuple[Any, Any]]) -> dict[str, object]:
    """Return the post-processor that puts these tokens, with their ids, behind each text."""
    text, other = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    behind = [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in tokens]
    return {
        "type": "TemplateProcessing",
        "single": [text, *behind],
        "pair": [text, *behind, other, *behind],
        "special_tokens": {key: {"id": key, "ids": [n], "tokens": [key]} for key, n in tokens},
    }
