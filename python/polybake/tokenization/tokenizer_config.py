"""tokenizer_config.json, and special_tokens_map.json beside it, as transformers reads them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeVar

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder

Side = Literal["right", "left"]

_Kind = TypeVar("_Kind")

#: What makes the files of a tokenizer agree, for a message.
SAVE_AGAIN = (
    "save the tokenizer again with transformers "
    "(AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER))"
)


@dataclass(frozen=True)
class TokenizerConfig:
    """The settings of a tokenizer, each read as the type that it must have.

    Attributes:
        folder: The model's.
        settings: tokenizer_config.json with special_tokens_map.json's tokens.
        mapped: The keys that are special_tokens_map.json's.
    """

    folder: ModelFolder
    settings: dict[str, object]
    mapped: frozenset[str]

    @classmethod
    def of(cls, folder: ModelFolder) -> TokenizerConfig:
        """Read the files of ``folder``, where they exist.

        Raises:
            InputError: one is no JSON object.

        Source: transformers ``PreTrainedTokenizerBase._from_pretrained``: special_tokens_map.json
        wins, but has no say beside ``added_tokens_decoder``.
        """
        settings = folder.settings("tokenizer_config.json")
        if "added_tokens_decoder" in settings:
            return cls(folder, settings, frozenset())
        tokens = folder.settings("special_tokens_map.json")
        return cls(folder, {**settings, **tokens}, frozenset(tokens))

    def refused(self, key: str, expected: str, remedy: str | None = None) -> InputError:
        """The error of a value that cannot be followed."""
        name = "special_tokens_map.json" if key in self.mapped else "tokenizer_config.json"
        return InputError(
            f"{self.folder.path / name}: {key} = {self.settings.get(key)!r}, expected {expected}; "
            + (remedy or f"set {key} in it")
        )

    def flag(self, key: str, default: bool) -> bool:
        """True or false.

        Raises:
            InputError: something else.
        """
        value = self.settings.get(key, default)
        if not isinstance(value, bool):
            raise self.refused(key, "true or false")
        return value

    def optional_flag(self, key: str) -> bool | None:
        """True, false, or None where it is null or missing.

        Raises:
            InputError: something else.
        """
        return self._optional(key, bool, "true, false or null")

    def name(self, key: str) -> str | None:
        """A text, or None where it is null or missing.

        Raises:
            InputError: something else.
        """
        return self._optional(key, str, "a text or null")

    def _optional(self, key: str, kind: type[_Kind], expected: str) -> _Kind | None:
        value = self.settings.get(key)
        if value is not None and not isinstance(value, kind):
            raise self.refused(key, expected)
        return value

    def side(self, key: str, default: object = "right") -> Side:
        """Left or right.

        Raises:
            InputError: something else.
        """
        value = self.settings.get(key, default)
        if value == "right":
            return "right"
        if value == "left":
            return "left"
        raise self.refused(key, "'right' or 'left'")

    def token(self, key: str) -> str | None:
        """The content of a special token, written as a text or as an object.

        Raises:
            InputError: neither.
        """
        value = self.settings.get(key)
        content = value.get("content") if isinstance(value, dict) else value
        if content is None and value is None:
            return None
        if not isinstance(content, str):
            raise self.refused(key, "a token: a text, or an object with content")
        return content

    def limit(self) -> int | None:
        """``model_max_length``, or ``max_len`` of old; None where there is no limit.

        Raises:
            InputError: not a number.
        """
        key = next((k for k in ("model_max_length", "max_len") if k in self.settings), None)
        value = None if key is None else self.settings[key]
        if key is None or value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise self.refused(key, "a number of tokens")
        return None if value == math.inf else int(value)
