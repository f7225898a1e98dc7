"""What a folder's settings ask of a tokenizer that is made of its files."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import Field
from tokenizers import AddedToken as Token
from tokenizers import Tokenizer

from polybake.baking.sources.tokenizer_files.saved_tokens import (
    LISTS,
    Tokens,
    like,
    lists_of,
    tokens_by_id,
)
from polybake.baking.sources.tokenizer_files.vocabulary_files import LONGEST_TOKEN
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_config import SAVE_AGAIN, AddedToken, TokenizerConfig

_CONFIG, _MAP = "tokenizer_config.json", "special_tokens_map.json"
_STANDARD = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))


class Settings(JsonModel):
    """Keys of tokenizer_config.json that count where there is no tokenizer.json.

    A key that takes one value is one that versions of transformers obey in different ways.
    """

    do_basic_tokenize: Literal[True] | None = None
    clean_text: Literal[True] | None = None
    remove_space: Literal[True] | None = None
    wordpieces_prefix: Literal["##"] | None = None
    never_split: list[str] | None = Field(default=None, max_length=0)
    sp_model_kwargs: dict[str, object] | None = Field(default=None, max_length=0)
    extra_special_tokens: list[object] | None = None
    added_tokens_decoder: dict[int, AddedToken] | None = Field(default=None, strict=False)

    extra_ids: int = Field(default=100, ge=0, le=1000)
    legacy: bool | None = None
    trim_offsets: bool = True


@dataclass(frozen=True)
class Asked:
    """The settings of a folder, with the defaults of its tokenizer's class.

    Attributes:
        folder: The folder.
        config: Its settings as all tokenizers have them.
        settings: Its other settings.
        named: The special tokens by key, in transformers' order; None where there is none.
        extra: Further special tokens; None where tokenizer_config.json has no list.
        mapped: Those of special_tokens_map.json.
        added: Tokens that other files list, by id.
    """

    folder: ModelFolder
    config: TokenizerConfig
    settings: Settings
    named: Mapping[str, AddedToken | None]
    extra: Tokens | None
    mapped: Tokens
    added: Mapping[int, AddedToken]

    @classmethod
    def of(
        cls, folder: ModelFolder, config: TokenizerConfig, defaults: Mapping[str, AddedToken]
    ) -> Self:
        """Read the settings of a folder.

        Args:
            folder: The folder.
            config: Its tokenizer_config.json and special_tokens_map.json.
            defaults: The special tokens of the class by key.

        Raises:
            InputError: A setting has a wrong type, or a value that is not baked.

        Source: transformers ``PreTrainedTokenizerBase._from_pretrained``.
        """
        settings = folder.read(_CONFIG, Settings, remedy=SAVE_AGAIN)
        given = {
            key: like(defaults.get(key), getattr(config, key))
            for key in _STANDARD
            if key in config.model_fields_set
        }
        named = {key: defaults.get(key) for key in _STANDARD} | given
        own = {key: token for key, token in config.special_tokens if key not in LISTS}
        # In transformers' order, the model's own tokens last.
        named |= {key: token for key, token in own.items() if key not in named}
        extra, mapped = lists_of(folder)
        added = settings.added_tokens_decoder
        if added is None:
            explicit = (token for token in (*given.values(), *(extra or ())) if token is not None)
            added = tokens_by_id(folder, {token.content for token in explicit})
        return cls(folder, config, settings, named, extra, mapped, added)

    def token(self, key: str) -> str:
        """The content of a special token that the class needs.

        Raises:
            InputError: It is set to null.
        """
        token = self.named[key]
        if token is None:
            raise self.config.refused(key, "a token", "name one, or leave the key out")
        return token.content

    def add_tokens(self, tokenizer: Tokenizer, own: Tokens | None = None) -> None:
        """Add the tokens that a text is searched for.

        Args:
            tokenizer: Gets them.
            own: Further special tokens, which the vocabulary's file or the class names. They stand
                in for those of special_tokens_map.json, and count if tokenizer_config.json lists
                none.

        Raises:
            InputError: A token gets another id than a file has for it, or is dropped.

        Source: transformers ``TokenizersBackend.__init__``.
        """
        further = self.mapped if own is None else own
        named = [token for token in self.named.values() if token is not None]
        special = {token.content for token in named}
        tokens: dict[str, Token] = {}
        in_order = [token for _, token in sorted(self.added.items())]
        for token in (*in_order, *named, *(further if self.extra is None else self.extra)):
            if len(token.content) > LONGEST_TOKEN:
                raise InputError(
                    f"{self.folder.path}: an added token has {len(token.content)} characters, "
                    f"expected at most {LONGEST_TOKEN}; drop it"
                )
            if token.content not in tokens:
                is_special = token.special or token.content in special
                tokens[token.content] = _token(token, special=is_special)
        tokenizer.add_tokens([*tokens.values()])
        for number, token in self.added.items():
            found = tokenizer.token_to_id(token.content)
            if found != number:
                raise InputError(
                    f"{self.folder.path}: the added token {token.content!r} has the id {number} "
                    f"in its files, expected {found} after the vocabulary; {SAVE_AGAIN}"
                )
        for token in self.mapped:
            if token.content not in tokens:
                raise InputError(
                    f"{self.folder.path / _MAP}: transformers drops the token {token.content!r}, "
                    f"as {_CONFIG} does not list it; {SAVE_AGAIN}"
                )


def _token(saved: AddedToken, *, special: bool) -> Token:
    return Token(
        saved.content,
        single_word=saved.single_word,
        lstrip=saved.lstrip,
        rstrip=saved.rstrip,
        normalized=not special if saved.normalized is None else saved.normalized,
        special=special,
    )
