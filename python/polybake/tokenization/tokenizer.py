"""tokenizer.json with everything baked in that tokenisation needs, so that a client only pads."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tokenizers import Tokenizer

from polybake.errors import InputError
from polybake.modelfolder import ModelFolder
from polybake.tokenization.position_table import table_rows, tokens_held

PadSide = Literal["right", "left"]

#: The ``max_length`` of a model that takes texts of any length; its tokenizer does not truncate.
NO_LIMIT = 2**31 - 1

_GENERIC_CLASSES = ("PreTrainedTokenizerFast", "TokenizersBackend")
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
    pad_side: PadSide

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Turn each text into token ids, special tokens included, cut at ``max_length``."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def count(self, text: str) -> int:
        """Count a text's tokens, special tokens included, without cutting it."""
        return len(self._untruncated.encode(text).ids)

    @cached_property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that tokenizer.json calls special."""
        added = self._tokenizer.get_added_tokens_decoder()
        return frozenset(token_id for token_id, token in added.items() if token.special)

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
        InputError: no tokenizer.json, one that cannot be read, no known length limit or padding
            token, or a limit below the number of special tokens.
    """
    data = read_tokenizer(folder)
    config = folder.settings("tokenizer_config.json")
    max_length = _max_length(folder, config, max_seq_length)
    shipped_padding = data.get("padding")
    data["truncation"] = {
        "direction": "Left" if config.get("truncation_side") == "left" else "Right",
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    data["padding"] = None
    data["normalizer"] = _normalizer(folder, data.get("normalizer"), config)
    if lowercase:
        data["normalizer"] = _lowercased(data["normalizer"])
    text, tokenizer = made_tokenizer(folder, data)
    special = tokenizer.num_special_tokens_to_add(False)
    if max_length < special:
        raise InputError(
            f"{folder.path}: max length {max_length} is below the tokenizer's {special} special "
            f"tokens; set max_seq_length in sentence_bert_config.json to {special + 1} or more"
        )
    side: PadSide = "left" if config.get("padding_side") == "left" else "right"
    pad_id = _pad_id(folder, tokenizer, config, shipped_padding)
    return BakedTokenizer(text, max_length, pad_id, side)


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
        InputError: tokenizers cannot read it.
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    try:
        return text, Tokenizer.from_str(text)
    except Exception as error:  # tokenizers raises bare Exception
        raise InputError(
            f"{folder.path / 'tokenizer.json'}: cannot be read by tokenizers ({error}); "
            "download it again"
        ) from error


def _max_length(folder: ModelFolder, config: dict[str, object], given: int | None) -> int:
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
    limits = (config.get("model_max_length"), held)
    known = [int(limit) for limit in limits if isinstance(limit, int | float)]
    # transformers writes 1e30 for "no limit".
    if not known or not 0 < min(known) < 2**31:
        raise InputError(
            f"{folder.path}: no length limit is known (found {known}); "
            'add "model_max_length" to tokenizer_config.json'
        )
    return min(known)


def _pad_id(
    folder: ModelFolder, tokenizer: Tokenizer, config: dict[str, object], shipped: object
) -> int:
    """The id of the configured padding token, else tokenizer.json's, else the model's."""
    token = {**folder.settings("special_tokens_map.json"), **config}.get("pad_token")
    content = token.get("content") if isinstance(token, dict) else token
    configured = tokenizer.token_to_id(content) if isinstance(content, str) else None
    padding = shipped.get("pad_id") if isinstance(shipped, dict) else None
    for value in (configured, padding, folder.settings("config.json").get("pad_token_id")):
        if isinstance(value, int) and value >= 0:
            return value
    raise InputError(
        f"{folder.path}: no padding token is known; name it as pad_token in tokenizer_config.json"
    )


def _normalizer(folder: ModelFolder, stored: object, config: dict[str, object]) -> object:
    """BERT's normalizer as tokenizer_config.json has it, which wins over tokenizer.json.

    Source: transformers ``BertTokenizer``, which rebuilds it; the generic classes do not.
    """
    name = config.get("tokenizer_class") or folder.settings("config.json").get("model_type")
    if not isinstance(stored, dict) or stored.get("type") != "BertNormalizer":
        return stored
    if name is None or name in _GENERIC_CLASSES:
        return stored
    return {
        **stored,
        "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
        "strip_accents": config.get("strip_accents"),
        "lowercase": config.get("do_lower_case", True),
    }


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
