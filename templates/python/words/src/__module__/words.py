"""The words of texts, and which tokens each has."""

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from .contract import MAX_LENGTH, SETTINGS
from .errors import LongTextError

#: What a tokenizer treats by itself: a gap and what follows up to the next.
_CHUNK = re.compile(r"[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+\Z)?")
_GAP = " \t\n\r"
#: Unicode's White_Space: no word ends in it.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


class Word(NamedTuple):
    """A word, ``text[start:end]``, and its tokens among those of the text."""

    start: int
    end: int
    first: int
    last: int


def words_of(tokenizer: Tokenizer, texts: Sequence[str], room: int) -> list[tuple[list[Word], int]]:
    """The words of each text, and how many tokens it has.

    Raises:
        LongTextError: a text has more tokens than there is room for.
    """
    cut = [list(_CHUNK.finditer(text)) for text in texts]
    given = [chunk[0] for chunks in cut for chunk in chunks]
    encodings = iter(tokenizer.encode_batch(given, add_special_tokens=False))
    found: list[tuple[list[Word], int]] = []
    for text, chunks in zip(texts, cut, strict=True):
        words: list[Word] = []
        tokens, full = 0, False
        for chunk in chunks:
            encoding = next(encodings)
            words += _words(chunk[0], encoding, chunk.start(), tokens)
            tokens += len(encoding.ids)
            full = full or len(encoding.ids) >= MAX_LENGTH  # the tokenizer may have cut it
        if tokens > room or full:
            raise LongTextError(f'"{text[:40]}…" has {tokens} tokens, {room} fit; give it in parts')
        found.append((words, tokens))
    return found


def check_tokens(text: str, tokens: int, found: int) -> None:
    """Refuse a text of which the graph had other tokens, as special ones may take white space."""
    if text.strip(_GAP) and tokens != found:
        raise ValueError(f'"{text[:40]}…": take special tokens out of it')


def _words(chunk: str, encoding: Encoding, begin: int, before: int) -> list[Word]:
    """The words of a chunk that begins at a character of its text, behind so many tokens."""
    places, ids = encoding.offsets, encoding.word_ids
    gap, end = len(chunk) - len(chunk.lstrip(_GAP)), len(chunk.rstrip(_GAP))
    groups = [list(group) for _, group in groupby(range(len(ids)), lambda token: ids[token])]
    # Tokens of a gap are no word's, unless the tokenizer lets a word begin with them.
    kept = [one for one in groups if places[one[0]][0] < end and places[one[-1]][1] > gap]
    starts = [max(gap, places[one[0]][0]) for one in kept]
    if SETTINGS["words"] == "gaps" and kept:
        kept, starts = [[kept[0][0], kept[-1][-1]]], [gap]
    ends = [len(chunk[:stop].rstrip(_WHITE_SPACE)) for stop in (*starts[1:], end)]
    return [
        Word(begin + start, begin + stop, before + group[0], before + group[-1] + 1)
        for group, start, stop in zip(kept, starts, ends, strict=False)
        if stop > start
    ]
