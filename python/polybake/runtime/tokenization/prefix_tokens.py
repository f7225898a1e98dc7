"""Prefixes that are one token each, wherever a text begins with them."""

import json
from collections.abc import Iterable
from dataclasses import replace

from tokenizers import AddedToken, Tokenizer

from polybake.runtime.tokenization.tokenizer import BakedTokenizer


def with_prefix_tokens(baked: BakedTokenizer, prefixes: Iterable[str]) -> BakedTokenizer:
    """The tokenizer with each prefix that it has an id for as a token that texts can hold.

    Source: sentence-transformers ``MultiVectorEncoder._register_prefix_tokens``.
    """
    tokenizer = Tokenizer.from_str(baked.json)
    for prefix in prefixes:
        for token in (prefix, *prefix.split(None, 1)[:1]):
            if tokenizer.token_to_id(token) is None:
                continue
            if tokenizer.encode(token, add_special_tokens=False).tokens != [token]:
                tokenizer.add_special_tokens([AddedToken(token, normalized=False, special=True)])
            break
    data = json.loads(tokenizer.to_str())
    return replace(baked, json=json.dumps(data, ensure_ascii=True, separators=(",", ":")))
