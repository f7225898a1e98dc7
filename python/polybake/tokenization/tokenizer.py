"""tokenizer.json with everything baked in that tokenisation needs, so that a client only pads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from tokenizers import Tokenizer

from polybake.errors import InputError
from polybake.files.model_folder import ModelFolder
from polybake.modelfile.manifest import Contract
from polybake.tokenization.added_tokens import missing_tokens
from polybake.tokenization.known_classes import rebuilt_class
from polybake.tokenization.position_table import table_rows, tokens_held
from polybake.tokenization.tokenizer_config import Side, TokenizerConfig

#: The ``max_length`` of a model that takes texts of any length; its tokenizer does not truncate.
NO_LIMIT = 2**31 - 1

_LOWERCASE = {"type": "Lowercase"}


@dataclass(frozen=True)
class BakedTokenizer:
    """A tokenizer as the model file carries it.

    Attributes:
        json: The whole tokenizer.json: truncation set where there is a limit, padding null.
        max_length: Tokens kept of a text, special tokens included, or `NO_LIMIT`.
        pad_id: The id that fills a row up.
        pad_side: Where it is filled up.
    """

    json: str = field(repr=False)
    max_length: int
    pad_id: int
    pad_side: Side

    @classmethod
    def of(cls, text: str, contract: Contract) -> Self:
        """The tokenizer of a model file, whose contract has the other facts."""
        return cls(text, contract.max_length, contract.pad_id, contract.pad_side)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Turn each text into token ids, special tokens included, cut at ``max_length``."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def count(self, text: str) -> int:
        """Count a text's tokens, special tokens included, without cutting it."""
        return len(self._untruncated.encode(text).ids)

    def beginning(self, text: str) -> list[int]:
        """The ids of a text alone, without a special token behind it."""
        ids = self.encode([text])[0]
        last = self._tokenizer.get_added_tokens_decoder().get(ids[-1]) if ids else None
        return ids[:-1] if last is not None and last.special else ids

    @cached_property
    def _untruncated(self) -> Tokenizer:
        tokenizer = Tokenizer.from_str(self.json)
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer.from_str(self.json)


def bake_tokenizer(
    folder: ModelFolder, *, max_seq_length: int | None = None, lowercase: bool = False
) -> BakedTokenizer:
    """Read the tokenizer of a model's folder and bake its limits and padding.

    Args:
        folder: Holds tokenizer.json and, where they exist, tokenizer_config.json,
            special_tokens_map.json and config.json.
        max_seq_length: sentence-transformers' own limit; None takes the tokenizer's and the
            model's.
        lowercase: sentence-transformers' ``do_lower_case``.

    Raises:
        InputError: no tokenizer.json, one that cannot be read, settings beside it that contradict
            it, no known length limit or padding token, or a limit below the number of special
            tokens.
    """
    data = read_tokenizer(folder)
    config = TokenizerConfig.of(folder)
    max_length = _max_length(folder, config.limit(), max_seq_length)
    if config.flag("split_special_tokens", False):
        raise config.refused("split_special_tokens", "false")
    pad_side = config.side("padding_side")
    truncation = data.get("truncation")
    shipped = truncation.get("direction") if isinstance(truncation, dict) else None
    truncation_side = config.side("truncation_side", "left" if shipped == "Left" else "right")
    rebuilt = rebuilt_class(config, folder.settings("config.json"))
    if rebuilt is not None and not rebuilt.fits(data):
        rebuilt = None
    baked = data if rebuilt is None else rebuilt.rebuild(config, data)
    baked = {
        **baked,
        "truncation": {
            "direction": truncation_side.capitalize(),
            "max_length": max_length,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        "padding": None,
    }
    if lowercase:
        baked["normalizer"] = _lowercased(baked.get("normalizer"))
    text, tokenizer = made_tokenizer(folder, baked)
    if missing := missing_tokens(config, baked, tokenizer):
        added = baked.get("added_tokens")
        baked["added_tokens"] = [*(added if isinstance(added, list) else []), *missing]
        text, tokenizer = made_tokenizer(folder, baked)
    special = tokenizer.num_special_tokens_to_add(False)
    if max_length < special:
        raise InputError(
            f"{folder.path}: max length {max_length} is below the tokenizer's {special} special "
            f"tokens; set max_seq_length in sentence_bert_config.json to {special + 1} or more"
        )
    if rebuilt is not None:
        rebuilt.check_edges(config, tokenizer)
    pad_id = _pad_id(folder, tokenizer, config, data.get("padding"))
    return BakedTokenizer(text, max_length, pad_id, pad_side)


def read_tokenizer(folder: ModelFolder) -> dict[str, object]:
    """Read tokenizer.json.

    Raises:
        InputError: there is none, or it is no tokenizer.
    """
    if folder.file("tokenizer.json") is None:
        raise InputError(
            f"{folder.path}: has no tokenizer.json; write it with: python -c "
            "\"from transformers import AutoTokenizer as T; T.from_pretrained('.')"
            ".save_pretrained('.')\" (run there)"
        )
    data = folder.settings("tokenizer.json")
    if "model" not in data:
        raise InputError(
            f'{folder.path / "tokenizer.json"}: is not a tokenizer, as it has no key "model" '
            f"(only: {', '.join(data) or 'none'}); download it again"
        )
    return data


def made_tokenizer(folder: ModelFolder, data: dict[str, object]) -> tuple[str, Tokenizer]:
    """Make the tokenizer that ``data``, the object in a tokenizer.json, describes.

    Returns:
        Its JSON, ASCII only, and the tokenizer itself.

    Raises:
        InputError: tokenizers cannot read it, or it drops merges at random.
    """
    model = data.get("model")
    dropout = model.get("dropout") if isinstance(model, dict) else None
    if dropout:
        raise InputError(
            f"{folder.path / 'tokenizer.json'}: model.dropout = {dropout!r} gives a text other "
            "ids each time, expected null; set it to null"
        )
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    try:
        return text, Tokenizer.from_str(text)
    except Exception as error:  # tokenizers raises bare Exception
        raise InputError(
            f"{folder.path / 'tokenizer.json'}: cannot be read by tokenizers ({error}); "
            "download it again"
        ) from error


def _max_length(folder: ModelFolder, configured: int | None, given: int | None) -> int:
    """Apply sentence-transformers' rule for ``max_seq_length``, as far as the positions reach.

    Source: sentence-transformers ``Transformer``.
    """
    model = folder.settings("config.json")
    rows, held = table_rows(model), tokens_held(model)
    if given is not None:
        if rows is not None and given > rows:
            raise InputError(
                f"{folder.path}: max length {given} exceeds max_position_embeddings {rows}; "
                "lower max_seq_length in sentence_bert_config.json"
            )
        return given if held is None else min(given, held)
    known = [limit for limit in (configured, held) if limit is not None]
    # transformers writes 1e30 for "no limit".
    if not known or not 0 < min(known) < 2**31:
        raise InputError(
            f"{folder.path}: no length limit is known (found {known}); "
            'add "model_max_length" to tokenizer_config.json'
        )
    return min(known)


def _pad_id(
    folder: ModelFolder, tokenizer: Tokenizer, config: TokenizerConfig, shipped: object
) -> int:
    """The id of the configured padding token, else tokenizer.json's, else the model's."""
    content = config.token("pad_token")
    configured = None if content is None else tokenizer.token_to_id(content)
    padding = shipped.get("pad_id") if isinstance(shipped, dict) else None
    for value in (configured, padding, folder.settings("config.json").get("pad_token_id")):
        if isinstance(value, int) and value >= 0:
            return value
    raise InputError(
        f"{folder.path}: no padding token is known; name it as pad_token in tokenizer_config.json"
    )


def _lowercased(normalizer: object) -> object:
    """Lowercase before everything else, unless that is done already.

    Source: sentence-transformers ``Transformer``, ``do_lower_case``.
    """
    parts: list[object] = []
    if isinstance(normalizer, dict):
        inner = normalizer.get("normalizers") if normalizer.get("type") == "Sequence" else None
        parts = inner if isinstance(inner, list) else [normalizer]
    if _LOWERCASE in parts:
        return normalizer
    return {"type": "Sequence", "normalizers": [_LOWERCASE, *parts]}
