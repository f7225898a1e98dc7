"""Known differences in token ids: token limit, special tokens, tokenizer settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from typing import Any

from tokenizers import Tokenizer

from polybake.base.modelfile.rows import Rows
from polybake.runtime.tokenizer import BakedTokenizer
from polybake.study.diagnose.departures.departure import Departure
from polybake.study.diagnose.way import Way

#: Limits that tokenizers are shipped with, or that libraries set by default.
_LIMITS = (16, 32, 64, 128, 256, 384, 512, 1024, 2048)

#: The pre-tokenizer of white space, in the form of `tokenizer.json`.
_SPACES = {"type": "WhitespaceSplit"}

#: What a BERT normaliser can be set not to do, by the names of `tokenizer.json`.
_SWITCHES = {
    "lowercase": "keeps the case of texts",
    "strip_accents": "keeps accents",
    "handle_chinese_chars": "does not set Chinese characters apart",
    "clean_text": "keeps control characters",
}


def departures(tokenizer: BakedTokenizer, limit: int) -> Iterator[Departure]:
    """Yield the departures of limits, of special tokens, and of the tokenizer's settings."""
    data = json.loads(tokenizer.json)
    for other in _LIMITS:
        if other != limit:
            yield _of(f"cuts texts at {other} tokens", _cut(data, other))
    yield _of("cuts the beginning of long texts", _cut(data, limit, "Left"))
    yield Departure("adds no special tokens", Way(tokens=_bare))
    before, behind = tokenizer.special_tokens
    if before and behind:
        yield Departure("adds no special token before texts", Way(tokens=partial(_cut_off, before)))
        yield Departure(
            "adds no special token behind texts", Way(tokens=partial(_cut_off, 0, behind=behind))
        )
    if before or behind:
        yield Departure("adds special tokens twice", Way(tokens=partial(_twice, before, behind)))
    spaces = data | {"pre_tokenizer": _SPACES}
    yield _of("splits texts at white space alone", spaces)
    if data["normalizer"] is not None:
        name = "splits texts at white space alone, without the tokenizer's normalizer"
        yield _of(name, spaces | {"normalizer": None})
    yield from _normalizers(data)


def _bare(tokenizer: BakedTokenizer, texts: list[str]) -> Rows:
    return [encoding.ids for encoding in tokenizer.bare(texts)]


def _cut_off(before: int, tokenizer: BakedTokenizer, texts: list[str], behind: int = 0) -> Rows:
    return [row[before : len(row) - behind] for row in tokenizer.encode(texts)]


def _twice(before: int, behind: int, tokenizer: BakedTokenizer, texts: list[str]) -> Rows:
    rows = tokenizer.encode(texts)
    return [[*row[:before], *row, *row[len(row) - behind :]] for row in rows]


def _cut(data: dict[str, Any], limit: int, side: str = "Right") -> dict[str, Any]:
    own = {"strategy": "LongestFirst", "stride": 0, **(data["truncation"] or {})}
    return data | {"truncation": own | {"max_length": limit, "direction": side}}


def _normalizers(data: dict[str, Any]) -> Iterator[Departure]:
    own = data["normalizer"]
    if own is None:
        return
    yield _of("leaves out the tokenizer's normalizer", data | {"normalizer": None})
    if own["type"] != "BertNormalizer":
        return
    if own["lowercase"] and own["strip_accents"] is None:
        other = own | {"lowercase": False}
        yield _of("keeps the case and accents of texts", data | {"normalizer": other})
    for switch, name in _SWITCHES.items():
        other = deepcopy(own)
        # Unless set, strip_accents follows lowercase. Source: tokenizers, BertNormalizer.
        accents = own["lowercase"] if own["strip_accents"] is None else own["strip_accents"]
        if own[switch] or (switch == "strip_accents" and accents):
            other |= {"strip_accents": accents, switch: False}
            yield _of(name, data | {"normalizer": other})


def _of(name: str, data: dict[str, Any]) -> Departure:
    return Departure(name, Way(tokens=partial(_encoded, json.dumps(data))))


def _encoded(data: str, _: BakedTokenizer, texts: list[str]) -> Rows:
    return [encoding.ids for encoding in Tokenizer.from_str(data).encode_batch(texts)]
