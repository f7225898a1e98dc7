"""Tokens that other files list for tokenizer.json: those that texts hold, and those around them."""

from collections.abc import Iterator

from pydantic import RootModel
from tokenizers import Tokenizer

from polybake.baking.tokenizer.tokenizer_config import SAVE_AGAIN, AddedToken, TokenizerConfig
from polybake.baking.tokenizer.tokenizer_json import TokenizerJson
from polybake.base.files.model_folder import ModelFolder
from polybake.errors import InputError

_EDGE_REMEDY = (
    "save the tokenizer again with transformers 4, whose tokenizer.json then does so, or set "
    "{key} to false to leave the token out"
)


class _AddedTokens(RootModel[dict[str, object]]):
    """added_tokens.json: ids by token."""

    root: dict[str, object] = {}


def missing_tokens(
    folder: ModelFolder, config: TokenizerConfig, data: TokenizerJson, tokenizer: Tokenizer
) -> list[dict[str, object]]:
    """The entries that ``added_tokens`` in tokenizer.json lacks, of words that have an id.

    Source: transformers ``TokenizersBackend.__init__``, which adds them.
    """
    contents = {entry.get("content") for entry in data.added_tokens}
    entries: list[dict[str, object]] = []
    for key, token in _named(folder, config):
        if token.content in contents:
            continue
        contents.add(token.content)
        number = tokenizer.token_to_id(token.content)
        if number is None:
            raise InputError(
                f"{folder.path}: {key} has the token {token.content!r}, expected one of "
                f"tokenizer.json; {SAVE_AGAIN}"
            )
        normalized = not token.special if token.normalized is None else token.normalized
        entries.append({"id": number, **token.model_dump(), "normalized": normalized})
    return entries


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


def check_added_edges(config: TokenizerConfig, tokenizer: Tokenizer) -> None:
    """Compare ``add_bos_token`` and ``add_eos_token`` with tokenizer.json's post-processor.

    transformers 4 obeys them in tokenizers of Llama's line; elsewhere a model's own code does.
    transformers 5 ignores them beside a tokenizer.json. A token that is not named is not added.

    Source: transformers ``LlamaTokenizerFast.update_post_processor`` of version 4.
    """
    tokens = tokenizer.encode("a").tokens
    for key, edge, index in (("add_bos_token", "bos_token", 0), ("add_eos_token", "eos_token", -1)):
        content = config.token(edge)
        if getattr(config, key) and content is not None and tokens[index:][:1] != [content]:
            raise config.refused(
                key, f"false, as tokenizer.json adds no {content!r}", _EDGE_REMEDY.format(key=key)
            )
