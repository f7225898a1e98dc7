"""Read tokenizer_config.json and special_tokens_map.json like transformers."""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError
from polybake.runtime.tokenizer import Side

#: The remedy, in messages, for files of a tokenizer that disagree.
SAVE_AGAIN = (
    "save the tokenizer again with transformers "
    "(AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER))"
)

#: The keys of the standard tokens, in transformers' order.
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


#: Keys for decoding, other calls and records; tokenizer.json decides how texts become ids.
#: Source: the arguments of transformers' tokenizer classes, of versions 4 and 5, and files of
#: models on the Hugging Face hub.
_PASSED_OVER = frozenset(
    (
        # Decoding.
        *("clean_up_tokenization_spaces", "spaces_between_special_tokens", "errors"),
        # Calls: an encoder's own arguments win.
        *("max_length", "padding", "pad_to_multiple_of", "pad_token_type_id", "return_tensors"),
        *("return_token_type_ids", "stride", "truncation", "truncation_strategy", "trim_offsets"),
        *("add_special_tokens", "cls_token_type_id", "pad_token_segment_id", "max_seq_length"),
        *("max_model_input_sizes", "return_attention_mask"),
        # The origin of tokenizer.json, which says all of it.
        *("do_basic_tokenize", "never_split", "legacy", "extra_ids", "offset", "remove_space"),
        *("sp_model_kwargs", "vocab_file", "merges_file", "spm_file", "vocab_type", "vocab_size"),
        *("add_dummy_prefix_space", "clean_text", "do_clean_text", "unk_id", "wordpieces_prefix"),
        "model_specific_special_tokens",
        # The ids of tokens that have their own key.
        *(f"{name}_token_id" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")),
        # Where and how it was loaded and saved.
        *("_commit_hash", "_from_auto", "backend", "device", "device_map", "dtype", "from_slow"),
        *("full_tokenizer_file", "init_inputs", "is_local", "local_files_only", "model_type"),
        *("name_or_path", "processor_class", "special_tokens_map_file", "tokenizer_file"),
        *(
            "revision",
            "tokenizer_type",
            "torch_dtype",
            "transformers_version",
            "trust_remote_code",
            "use_fast",
        ),
        # Chats.
        *("chat_control_tokens", "response_schema", "response_template"),
        "use_default_system_prompt",
        # Languages of translation.
        *("language", "src_lang", "task", "tgt_lang", "language_codes"),
    )
)


#: The classes of gte-Qwen2 and its kin, whose code is known; see `qwen_of_gte`.
_QWEN_OF_GTE = ["tokenization_qwen.Qwen2Tokenizer", "tokenization_qwen.Qwen2TokenizerFast"]


class _OwnCode(KnownKeys):
    """The classes of a model's own code, of which only the tokenizer's turns texts into ids."""

    @classmethod
    def passes_over(cls, key: str, value: object) -> bool:
        """Passes over models and configurations, which config.json names, and known code."""
        return not value or key != "AutoTokenizer" or cls.of_gte(value)

    @staticmethod
    def of_gte(value: object) -> bool:
        """Return whether these are gte-Qwen2's classes, of whatever repository."""
        names = value if isinstance(value, list) else ()
        return [str(name).rpartition("--")[2] for name in names] == _QWEN_OF_GTE


class TokenizerConfig(JsonModel, KnownKeys):
    """The settings of a tokenizer, with BERT's defaults; other classes may have others."""

    passed_over: ClassVar[Collection[str]] = _PASSED_OVER
    hints: ClassVar[Mapping[str, str]] = {
        "auto_map.AutoTokenizer": "no code of a model is run: if tokenizer.json gives the same "
        "ids, allow it"
    }

    tokenizer_class: str | None = None
    model_max_length: _Limit | None = None
    max_len: _Limit | None = None
    padding_side: Side = "right"
    truncation_side: Side = "right"
    split_special_tokens: Literal[False] = False
    chat_template: object = None
    auto_map: _OwnCode | None = None
    model_input_names: list[str] | None = None

    do_lower_case: bool = True
    tokenize_chinese_chars: bool = True
    strip_accents: bool | None = None
    keep_accents: bool | None = None
    split_by_punct: bool | None = None
    add_prefix_space: bool | None = None
    add_bos_token: bool | None = None
    add_eos_token: bool | None = None

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

        Source: transformers ``PreTrainedTokenizerBase._from_pretrained``: special_tokens_map.json
        wins, but has no say beside ``added_tokens_decoder``.
        """
        config = folder.read("tokenizer_config.json", cls, remedy="correct it")
        if "added_tokens_decoder" not in config.model_fields_set:
            tokens = folder.read("special_tokens_map.json", cls, remedy="correct it")
            values = {key: getattr(tokens, key) for key in tokens.model_fields_set}
            config = config.model_copy(update=values)
            config._mapped = frozenset(values)
        config._folder = folder.path
        return config

    @classmethod
    def passes_over(cls, key: str, value: object) -> bool:
        """Return whether a key changes no vector, such as the model's own ``image_token``."""
        return (key.endswith("_token") and isinstance(value, str | dict)) or super().passes_over(
            key, value
        )

    @property
    def limit(self) -> int | None:
        """``model_max_length``, or the older ``max_len``; None without a limit."""
        present = "model_max_length" in self.model_fields_set
        value = self.model_max_length if present else self.max_len
        return None if value is None or value == math.inf else int(value)

    @property
    def qwen_of_gte(self) -> bool:
        """Whether the tokenizer is gte-Qwen2's own."""
        code = self.auto_map and self.auto_map.model_extra
        return bool(code) and _OwnCode.of_gte((code or {}).get("AutoTokenizer"))

    @property
    def special_tokens(self) -> Iterator[tuple[str, AddedToken]]:
        """The keys of the special tokens with the tokens, in transformers' order."""
        for key in _STANDARD:
            if (token := getattr(self, key)) is not None:
                yield key, token
        for key, value in (self.model_extra or {}).items():
            # A model's own token is read only if it is a text, unlike add_bos_token.
            if key.endswith("_token") and isinstance(value, str):
                yield key, AddedToken(content=value)
        # The second key is an older name, read only instead of the first.
        lists = ("extra_special_tokens", "additional_special_tokens")
        named = next((key for key in lists if getattr(self, key)), lists[0])
        for token in getattr(self, named) or ():
            yield named, token

    def token(self, key: str) -> str | None:
        """The content of a special token."""
        token: AddedToken | None = getattr(self, key)
        return None if token is None else token.content

    def flag(self, key: str, *, default: bool, null: bool = False) -> bool:
        """A key that is true, false, or null with its own meaning; ``default`` without the key."""
        if key not in self.model_fields_set:
            return default
        value = getattr(self, key)
        return null if value is None else bool(value)

    def refused(self, key: str, expected: str, remedy: str = SAVE_AGAIN) -> InputError:
        """The error of a value that contradicts tokenizer.json."""
        name = "special_tokens_map.json" if key in self._mapped else "tokenizer_config.json"
        value = getattr(self, key)
        shown = repr(value.content) if isinstance(value, AddedToken) else json.dumps(value)
        setting = f"{self._folder / name}: {key} = {shown}"
        return InputError(f"{setting}, expected {expected}; {remedy}")
