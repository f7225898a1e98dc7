"""A prompt that names labels and a text as rows of token ids."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tokenizers import Tokenizer

from .contract import CONTRACT, MAX_LENGTH, VOCAB_SIZE
from .errors import Error

_PIECES = CONTRACT["pair"]["pieces"]
_PLACES = [piece["text"] for piece in _PIECES]
_BEFORE: list[int] = [piece["id"] for piece in _PIECES[: _PLACES.index(0)]]
_BEHIND: list[int] = [piece["id"] for piece in _PIECES[_PLACES.index(1) + 1 :]]
_ROOM: int = MAX_LENGTH - len(_BEFORE) - len(_BEHIND)

#: The type of the first token of each word; all others have type 0.
_FIRST = 2

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")

#: A prompt that names labels, and a text.
Pair = tuple[str, str]


class LongTextError(Error, ValueError):
    """Labels that leave no room for a text."""


class Tokens(NamedTuple):
    """The tokens of a prompt and a text.

    Attributes:
        ids: special tokens included.
        type_ids: 2 where a word of the text begins, else 0.
    """

    ids: list[int]
    type_ids: list[int]


class Word(NamedTuple):
    """A word of a text, ``text[start:end]``, and its token ids."""

    start: int
    end: int
    ids: list[int]


def packed(tokens: Tokens) -> list[int]:
    """One number a token: its id, and so many times the vocabulary's size as its type says."""
    return [token + VOCAB_SIZE * kind for token, kind in zip(*tokens, strict=True)]


def unpacked(row: Sequence[int]) -> Tokens:
    """The ids and the types of a row."""
    return Tokens([token % VOCAB_SIZE for token in row], [token // VOCAB_SIZE for token in row])


def rows_of(tokenizer: Tokenizer, pairs: Sequence[Pair], _prompt: str | None) -> list[list[int]]:
    """The tokens of each pair, the text cut, packed."""
    prompts = {prompt: prompt_ids(tokenizer, prompt) for prompt, _ in pairs}
    words = words_of(tokenizer, [text for _, text in pairs])
    return [row_of(prompts[prompt], found) for (prompt, _), found in zip(pairs, words, strict=True)]


def prompt_ids(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """The tokens of a prompt, which is not cut.

    Raises:
        LongTextError: it leaves no room for a text.
    """
    ids: list[int] = tokenizer.encode(prompt, add_special_tokens=False).ids
    if len(ids) >= _ROOM:
        raise LongTextError(
            f'the labels "{prompt[:40]}…" have {len(ids)} tokens; expected less than {_ROOM}, '
            "which the text shares; give fewer or shorter ones"
        )
    return ids


def room_beside(prompt: Sequence[int]) -> int:
    """Tokens of a text that stand beside the tokens of a prompt."""
    return _ROOM - len(prompt)


def row_of(prompt: Sequence[int], words: Sequence[Word]) -> list[int]:
    """The tokens of a prompt and of words, cut, packed."""
    ids, types = [*_BEFORE, *prompt], [0] * (len(_BEFORE) + len(prompt))
    for word in words:
        ids += word.ids
        types += [_FIRST] + [0] * (len(word.ids) - 1)
    most = MAX_LENGTH - len(_BEHIND)
    return packed(Tokens([*ids[:most], *_BEHIND], [*types[:most], *[0] * len(_BEHIND)]))


def words_of(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[Word]]:
    """The words of each text, without those of which the tokenizer makes no token."""
    places = [[match.span() for match in _WORD.finditer(text)] for text in texts]
    words = list(
        dict.fromkeys(
            text[start:end]
            for text, found in zip(texts, places, strict=True)
            for start, end in found
        )
    )
    encodings = tokenizer.encode_batch(words, add_special_tokens=False)
    ids = {word: encoding.ids for word, encoding in zip(words, encodings, strict=True)}
    return [
        [Word(start, end, ids[text[start:end]]) for start, end in found if ids[text[start:end]]]
        for text, found in zip(texts, places, strict=True)
    ]
