"""Prefixes of texts that are one token each, and a suffix as ids that the tokenizer adds."""

import json
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

from tokenizers import AddedToken, Tokenizer

from polybake.baking.tokenizer.bare_tokenizer import BareTokenizer
from polybake.baking.tokenizer.tokenizer_json import tokens_behind
from polybake.errors import InputError
from polybake.runtime.tokenizer import BakedTokenizer

#: What sentence-transformers finds a suffix by: ``Transformer._chat_template_suffix_ids``.
_FILLERS = ("0", "1 2 3 4")


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


def with_suffix(baked: BakedTokenizer, prompts: Iterable[str], suffix: str) -> BakedTokenizer:
    """Return the tokenizer that adds a suffix's ids behind texts, and no other special tokens.

    The ids count within the limit, so that a long text loses its end and keeps the suffix.
    """
    bare = BareTokenizer(baked)
    ids = bare.ids(suffix)
    for prompt in prompts:
        bare.cuts(prompt, suffix, ends=True)
        ends = zip(*(reversed(bare.ids(prompt + text + suffix)) for text in _FILLERS), strict=False)
        if len([*takewhile(lambda pair: pair[0] == pair[1], ends)]) != len(ids):
            raise InputError(
                "the tokenizer has one token for the ends of 0 and 4, which sentence-transformers "
                "then writes over the ends of cut texts; expected a tokenizer that knows digits"
            )
    if baked.max_length <= len(ids):
        raise InputError(
            f"{len(ids)} tokens stand behind each text, and a row has {baked.max_length}; raise "
            "max_seq_length in sentence_bert_config.json"
        )
    return baked.with_parts(post_processor=tokens_behind([(baked.token(n), n) for n in ids]))
