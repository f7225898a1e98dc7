"""Tokenizers of letters, one of each kind."""

from __future__ import annotations

import json

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from polybake.runtime.tokenizer import BakedTokenizer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG = 1000


def baked(made: Tokenizer, max_length: int = LONG) -> BakedTokenizer:
    data = json.loads(made.to_str())
    data["truncation"] = {
        "direction": "Right",
        "max_length": max_length,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    return BakedTokenizer(json.dumps(data), max_length, 0, "right")


def wordpiece(max_length: int = LONG) -> BakedTokenizer:
    tokens = ["[UNK]", "##s", *".,!'-", *LETTERS, *(f"##{one}" for one in LETTERS)]
    made = Tokenizer(models.WordPiece({one: n for n, one in enumerate(tokens)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return baked(made, max_length)


def byte_level(normalizer: object = None) -> BakedTokenizer:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({one: n for n, one in enumerate(alphabet)}, []))
    if normalizer is not None:
        made.normalizer = normalizer
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return baked(made)


def metaspace() -> BakedTokenizer:
    pieces = [("<unk>", 0.0), ("\u2581", -2.0), ("\u2581the", -1.0), *((c, -3.0) for c in LETTERS)]
    made = Tokenizer(models.Unigram(pieces, unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return baked(made)
