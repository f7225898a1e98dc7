"""Pairs of texts as rows of token ids."""

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from tokenizers import Tokenizer

from .contract import CONTRACT, MAX_LENGTH, VOCAB_SIZE
from .errors import Error

_PAIR = CONTRACT["pair"]
_ROOM: int = MAX_LENGTH - sum(piece["text"] is None for piece in _PAIR["pieces"])
_TEXTS = sorted(
    (piece for piece in _PAIR["pieces"] if piece["text"] is not None), key=itemgetter("text")
)

#: The texts of a row.
Pair = tuple[str, str]


class LongTextError(Error, ValueError):
    """A text that is not cut leaves no room for the one beside it."""


class Tokens(NamedTuple):
    """The tokens of a pair.

    Attributes:
        ids: special tokens included.
        type_ids: which text each belongs to, as the tokenizer counts them.
    """

    ids: list[int]
    type_ids: list[int]


def packed(tokens: Tokens) -> list[int]:
    """One number a token: its id, and so many times the vocabulary's size as its type says."""
    return [token + VOCAB_SIZE * kind for token, kind in zip(*tokens, strict=True)]


def unpacked(row: Sequence[int]) -> Tokens:
    """The ids and the types of a row."""
    return Tokens([token % VOCAB_SIZE for token in row], [token // VOCAB_SIZE for token in row])


def rows_of(tokenizer: Tokenizer, pairs: Sequence[Pair], _prompt: str | None) -> list[list[int]]:
    """The tokens of each pair, cut and joined, packed."""
    whole = [_surrounded(pair) for pair in pairs]
    texts = list(dict.fromkeys(text for pair in whole for text in pair))
    encodings = tokenizer.encode_batch_fast(texts)
    ids = {text: encoding.ids for text, encoding in zip(texts, encodings, strict=True)}
    return [
        packed(_joined(pair, *(ids[text] for text in texts)))
        for pair, texts in zip(pairs, whole, strict=True)
    ]


def _surrounded(pair: Pair) -> list[str]:
    """Each text with what the model's prompt has around it, which may share tokens with it."""
    return [
        piece.get("before", "") + text + piece.get("after", "")
        for piece, text in zip(_TEXTS, pair, strict=True)
    ]


def _joined(pair: Pair, *ids: Sequence[int]) -> Tokens:
    texts = [one[: piece.get("limit")] for piece, one in zip(_TEXTS, ids, strict=True)]
    sizes = _sizes(pair, *map(len, texts))
    kept = [_cut(text, size) for text, size in zip(texts, sizes, strict=True)]
    tokens = Tokens([], [])
    for piece in _PAIR["pieces"]:
        part = [piece["id"]] if piece["text"] is None else kept[piece["text"]]
        tokens.ids.extend(part)
        tokens.type_ids.extend([piece["type_id"]] * len(part))
    return tokens


def _cut(ids: Sequence[int], size: int) -> Sequence[int]:
    return ids[:size] if _PAIR["truncation_side"] == "right" else ids[len(ids) - size :]


def _sizes(pair: Pair, first: int, second: int) -> tuple[int, int]:
    """How many tokens stay of each text, as the tokenizer itself would cut them."""
    if first + second <= _ROOM:
        return first, second
    if _PAIR["truncate"] == "only_first":
        return _ROOM - _checked(pair[1], second), second
    if _PAIR["truncate"] == "only_second":
        return first, _ROOM - _checked(pair[0], first)
    short = min(first, second, _ROOM // 2)
    return (short, _ROOM - short) if first <= second else (_ROOM - short, short)


def _checked(text: str, size: int) -> int:
    """The size of a text that is not cut, and must leave room for the other."""
    if size >= _ROOM:
        raise LongTextError(
            f'"{text[:40]}…" has {size} tokens; expected less than {_ROOM}, '
            "which the text beside it shares; shorten it"
        )
    return size
