"""Pairs of texts as rows of token ids."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from .contract import MAX_LENGTH, PAIR, VOCAB_SIZE
from .errors import LongTextError

Pair = tuple[str, str]

_TEXTS = sorted((one for one in PAIR["pieces"] if one["id"] is None), key=lambda one: one["text"])
_ROOM: int = MAX_LENGTH - len(PAIR["pieces"]) + 2  #: tokens that the two texts share


def packed(ids: Sequence[int], type_ids: Sequence[int]) -> list[int]:
    """One number a token: its id, and so many times the vocabulary's size as its type says."""
    return [token + VOCAB_SIZE * kind for token, kind in zip(ids, type_ids, strict=True)]


def rows_of(tokenizer: Tokenizer, pairs: Sequence[Sequence[str]]) -> list[list[int]]:
    """The tokens of each pair, cut and joined, packed; a text in several pairs is encoded once."""
    # What a model's prompt has around a text may share tokens with it.
    around = [(one.get("before", ""), one.get("after", "")) for one in _TEXTS]
    whole = [[a + text + b for (a, b), text in zip(around, pair, strict=True)] for pair in pairs]
    texts = list(dict.fromkeys(text for pair in whole for text in pair))
    ids = {t: row.ids for t, row in zip(texts, tokenizer.encode_batch_fast(texts), strict=True)}
    return [_joined(pair, [ids[text] for text in pair]) for pair in whole]


def _joined(pair: Sequence[str], ids: Sequence[list[int]]) -> list[int]:
    texts = [row[: one.get("limit")] for one, row in zip(_TEXTS, ids, strict=True)]
    sizes = _sizes(pair, *map(len, texts))
    if PAIR["truncation_side"] == "right":
        kept = [row[:size] for row, size in zip(texts, sizes, strict=True)]
    else:
        kept = [row[len(row) - size :] for row, size in zip(texts, sizes, strict=True)]
    joined: list[int] = []
    for piece in PAIR["pieces"]:
        part = kept[piece["text"]] if piece["id"] is None else [piece["id"]]
        joined += packed(part, [piece["type_id"]] * len(part))
    return joined


def _sizes(pair: Sequence[str], first: int, second: int) -> tuple[int, int]:
    """How many tokens stay of each text, as the tokenizer itself would cut them."""
    if first + second <= _ROOM:
        return first, second
    if PAIR["truncate"] == "longest_first":
        short = min(first, second, _ROOM // 2)
        return (short, _ROOM - short) if first <= second else (_ROOM - short, short)
    text, size = (pair[1], second) if PAIR["truncate"] == "only_first" else (pair[0], first)
    if size >= _ROOM:
        raise LongTextError(f'"{text[:40]}…" has {size} tokens; shorten it to less than {_ROOM}')
    return (_ROOM - size, size) if PAIR["truncate"] == "only_first" else (size, _ROOM - size)
