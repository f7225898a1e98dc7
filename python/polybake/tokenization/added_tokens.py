"""Tokens that a text is searched for, which may stand beside tokenizer.json instead of in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenizers import Tokenizer

from polybake.errors import InputError
from polybake.tokenization.tokenizer_config import SAVE_AGAIN, TokenizerConfig

Entry = dict[str, object]

_SINGLE = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
#: The second is an older name, read in place of the first only.
_LISTS = ("extra_special_tokens", "additional_special_tokens")
_FLAGS = ("single_word", "lstrip", "rstrip")


def missing_tokens(
    config: TokenizerConfig, data: dict[str, object], tokenizer: Tokenizer
) -> list[Entry]:
    """The entries that ``added_tokens`` in tokenizer.json lacks, of words that have an id.

    Args:
        config: Names tokens.
        data: The object in tokenizer.json.
        tokenizer: Made of it.

    Raises:
        InputError: a token is malformed, or has no id.

    Source: transformers ``TokenizersBackend.__init__``, which adds them.
    """
    listed = data.get("added_tokens")
    entries = listed if isinstance(listed, list) else []
    known = {entry.get("content") for entry in entries if isinstance(entry, dict)}
    missing: list[Entry] = []
    for place, entry in _named(config):
        content = str(entry["content"])
        if content in known:
            continue
        known.add(content)
        number = tokenizer.token_to_id(content)
        if number is None:
            raise InputError(
                f"{config.folder.path}: {place} has the token {content!r}, expected one of "
                f"tokenizer.json; {SAVE_AGAIN}"
            )
        missing.append({"id": number, **entry})
    return missing


def _named(config: TokenizerConfig) -> Iterator[tuple[str, Entry]]:
    """Each token, behind the key or the file that names it, in transformers' order."""
    settings = config.settings
    decoder = settings.get("added_tokens_decoder")
    if "added_tokens_decoder" in settings:
        yield from _entries(config, "added_tokens_decoder", decoder, special=False)
    special: list[tuple[str, Entry]] = []
    for key, value in settings.items():
        standard = key in _SINGLE and config.token(key) is not None
        # A model's own token is read only where it is a text: add_bos_token is none.
        if standard or (key.endswith("_token") and isinstance(value, str)):
            special += _entries(config, key, [value], special=True)
    lists = [key for key in _LISTS if settings.get(key)]
    for key in lists[:1]:
        special += _entries(config, key, settings[key], special=True)
    if "added_tokens_decoder" not in settings:
        names = {entry["content"] for _, entry in special}
        for content in config.folder.settings("added_tokens.json"):
            yield "added_tokens.json", _entry({"content": content}, special=content in names)
    yield from special


def _entries(
    config: TokenizerConfig, key: str, tokens: object, *, special: bool
) -> Iterable[tuple[str, Entry]]:
    listed = list(tokens.values()) if isinstance(tokens, dict) else tokens
    if not isinstance(listed, list):
        raise config.refused(key, "a list or an object of tokens")
    for token in listed:
        value = {"content": token} if isinstance(token, str) else token
        if not isinstance(value, dict) or not isinstance(value.get("content"), str):
            raise config.refused(key, "tokens: texts, or objects with content")
        yield key, _entry(value, special=special or value.get("special") is True)


def _entry(token: dict[str, object], *, special: bool) -> Entry:
    flags = {flag: token.get(flag) is True for flag in _FLAGS}
    normalized = token.get("normalized")
    return {
        "content": token["content"],
        **flags,
        "normalized": normalized if isinstance(normalized, bool) else not special,
        "special": special,
    }
