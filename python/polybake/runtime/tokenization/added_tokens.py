"""Added tokens, which texts are searched for; other files may list them for tokenizer.json."""

from collections.abc import Iterator

from pydantic import RootModel
from tokenizers import Tokenizer

from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError
from polybake.runtime.tokenization.tokenizer_config import SAVE_AGAIN, AddedToken, TokenizerConfig
from polybake.runtime.tokenization.tokenizer_json import TokenizerJson


class _AddedTokens(RootModel[dict[str, object]]):
    """added_tokens.json: ids by token."""

    root: dict[str, object] = {}


def missing_tokens(
    folder: ModelFolder, config: TokenizerConfig, data: TokenizerJson, tokenizer: Tokenizer
) -> list[dict[str, object]]:
    """The entries that ``added_tokens`` in tokenizer.json lacks, of words that have an id.

    Args:
        folder: The model's.
        config: Names tokens.
        data: The tokenizer.json.
        tokenizer: Made of it.

    Raises:
        InputError: a token has no id.

    Source: transformers ``TokenizersBackend.__init__``, which adds them.
    """
    known = {entry.get("content") for entry in data.added_tokens}
    missing: list[dict[str, object]] = []
    for place, token in _named(folder, config):
        if token.content in known:
            continue
        known.add(token.content)
        number = tokenizer.token_to_id(token.content)
        if number is None:
            raise InputError(
                f"{folder.path}: {place} has the token {token.content!r}, expected one of "
                f"tokenizer.json; {SAVE_AGAIN}"
            )
        normalized = not token.special if token.normalized is None else token.normalized
        missing.append({"id": number, **token.model_dump(), "normalized": normalized})
    return missing


def _named(folder: ModelFolder, config: TokenizerConfig) -> Iterator[tuple[str, AddedToken]]:
    """Yield the key or file that names a token, and the token, in transformers' order."""
    for token in config.added_tokens_decoder or ():
        yield "added_tokens_decoder", token
    special = list(config.special_tokens)
    if "added_tokens_decoder" not in config.model_fields_set:
        names = {token.content for _, token in special}
        for content in folder.read("added_tokens.json", _AddedTokens).root:
            yield "added_tokens.json", AddedToken(content=content, special=content in names)
    for key, token in special:
        yield key, token.model_copy(update={"special": True})
