"""tokenizer_config.json, and special_tokens_map.json beside it, as transformers reads them."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.files.validation import JsonModel
from polybake.tokenization.tokenizer_json import Side

#: What makes the files of a tokenizer agree, for a message.
SAVE_AGAIN = (
    "save the tokenizer again with transformers "
    "(AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER))"
)

#: In transformers' order.
_STANDARD = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))


class AddedToken(JsonModel):
    """A token that a text is searched for."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False


#: Written as a text or as an object.
_Token = Annotated[
    AddedToken,
    BeforeValidator(lambda value: {"content": value} if isinstance(value, str) else value),
]
#: Written as a list, or as an object whose keys are no part of it.
_Tokens = Annotated[
    list[_Token],
    BeforeValidator(lambda value: list(value.values()) if isinstance(value, dict) else value),
]
_Limit = Annotated[float, Field(gt=0)]


class TokenizerConfig(JsonModel, extra="allow"):
    """The settings of a tokenizer, with BERT's defaults; other classes may have others."""

    tokenizer_class: str | None = None
    model_max_length: _Limit | None = None
    max_len: _Limit | None = None
    padding_side: Side = "right"
    truncation_side: Side = "right"
    split_special_tokens: Literal[False] = False
    chat_template: object = None
    model_input_names: list[str] | None = None

    do_lower_case: bool = True
    tokenize_chinese_chars: bool = True
    strip_accents: bool | None = None
    keep_accents: bool | None = None
    split_by_punct: bool | None = None
    add_prefix_space: bool | None = None

    bos_token: _Token | None = None
    eos_token: _Token | None = None
    unk_token: _Token | None = None
    sep_token: _Token | None = None
    pad_token: _Token | None = None
    cls_token: _Token | None = None
    mask_token: _Token | None = None
    added_tokens_decoder: _Tokens | None = None
    extra_special_tokens: _Tokens | None = None
    additional_special_tokens: _Tokens | None = None

    _folder: Path = PrivateAttr(default=Path())
    _mapped: frozenset[str] = PrivateAttr(default=frozenset())

    @classmethod
    def of(cls, folder: ModelFolder) -> Self:
        """Read the files of ``folder``, where they exist.

        Raises:
            InputError: one is no JSON object, or a setting has another type.

        Source: transformers ``PreTrainedTokenizerBase._from_pretrained``: special_tokens_map.json
        wins, but has no say beside ``added_tokens_decoder``.
        """
        config = folder.read("tokenizer_config.json", cls, remedy="correct it")
        if "added_tokens_decoder" not in config.model_fields_set:
            tokens = folder.read("special_tokens_map.json", cls, remedy="correct it")
            given = {key: getattr(tokens, key) for key in tokens.model_fields_set}
            config = config.model_copy(update=given)
            config._mapped = frozenset(given)
        config._folder = folder.path
        return config

    @property
    def limit(self) -> int | None:
        """``model_max_length``, or ``max_len`` of old; None where there is no limit."""
        given = "model_max_length" in self.model_fields_set
        value = self.model_max_length if given else self.max_len
        return None if value is None or value == math.inf else int(value)

    @property
    def special_tokens(self) -> Iterator[tuple[str, AddedToken]]:
        """Each token that is special, behind the key that names it, in transformers' order."""
        for key in _STANDARD:
            if (token := getattr(self, key)) is not None:
                yield key, token
        for key, value in (self.model_extra or {}).items():
            # A model's own token is read only where it is a text: add_bos_token is none.
            if key.endswith("_token") and isinstance(value, str):
                yield key, AddedToken(content=value)
        # The second is an older name, read in place of the first only.
        lists = ("extra_special_tokens", "additional_special_tokens")
        named = next((key for key in lists if getattr(self, key)), lists[0])
        for token in getattr(self, named) or ():
            yield named, token

    def token(self, key: str) -> str | None:
        """The content of a special token."""
        token: AddedToken | None = getattr(self, key)
        return None if token is None else token.content

    def refused(self, key: str, expected: str) -> InputError:
        """The error of a value that contradicts tokenizer.json."""
        name = "special_tokens_map.json" if key in self._mapped else "tokenizer_config.json"
        value = getattr(self, key)
        shown = repr(value.content) if isinstance(value, AddedToken) else json.dumps(value)
        found = f"{self._folder / name}: {key} = {shown}"
        return InputError(f"{found}, expected {expected}; {SAVE_AGAIN}")
