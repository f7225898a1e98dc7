"""The tokens that a folder's files list beside its vocabulary."""

from pydantic import ConfigDict, RootModel

from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_config import AddedToken, TokenizerConfig

_CONFIG, _MAP, _ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
#: The keys of lists; the second is an older name.
LISTS = ("extra_special_tokens", "additional_special_tokens")

Tokens = tuple[AddedToken, ...]


class _Ids(RootModel[dict[str, int]]):
    """added_tokens.json: ids by token."""

    model_config = ConfigDict(strict=True)

    root: dict[str, int] = {}


def special(content: str, *, lstrip: bool = False) -> AddedToken:
    """A special token as a class names it."""
    return AddedToken(content=content, lstrip=lstrip, special=True)


def lists_of(folder: ModelFolder) -> tuple[Tokens | None, Tokens]:
    """The lists of further special tokens in both files.

    The second key is an older name. With ``added_tokens_decoder`` the second file has no say.
    """
    config = folder.read(_CONFIG, TokenizerConfig)
    given, extra = config.model_fields_set, config.extra_special_tokens
    if "additional_special_tokens" in given and not extra:
        extra = config.additional_special_tokens
    known = not given.isdisjoint(LISTS)
    found = [*map(_special, extra or ())]
    if "added_tokens_decoder" in given:
        return (tuple(found) if known else None), ()
    mapped = folder.read(_MAP, TokenizerConfig)
    if "extra_special_tokens" in mapped.model_fields_set:
        found, known = [*found, *map(_special, mapped.extra_special_tokens or ())], True
    older = tuple(map(_special, mapped.additional_special_tokens or ()))
    return (tuple(found) if known else None), older


def like(default: AddedToken | None, token: AddedToken | None) -> AddedToken | None:
    """A token of the settings; if it is no more than a text, it takes its spaces as the default."""
    plain = token is not None and token.model_fields_set == {"content"}
    if default is None or token is None or not plain:
        return token
    return token.model_copy(update={"lstrip": default.lstrip})


def _special(token: AddedToken) -> AddedToken:
    return token.model_copy(update={"special": True})


def tokens_by_id(folder: ModelFolder, special: set[str]) -> dict[int, AddedToken]:
    """The tokens of added_tokens.json, none of which knows its flags.

    Raises:
        InputError: Two have one id.
    """
    ids = folder.read(_ADDED, _Ids).root
    tokens = {
        number: AddedToken(
            content=content, special=content in special, normalized=content not in special
        )
        for content, number in ids.items()
    }
    if len(tokens) < len(ids):
        raise InputError(
            f"{folder.path / _ADDED}: two tokens have one id, expected one each; download it again"
        )
    return tokens
