"""The words of texts, and how many tokens each has."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer

from .contract import CONTRACT
from .errors import ModelError

#: What a tokenizer treats by itself: a gap and what follows up to the next.
_CHUNK = re.compile(r"[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+\Z)?")
_GAP = " \t\n\r"

#: Unicode's White_Space: no word ends in it.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Whether words end at gaps alone; else also where the tokenizer ends them.
_BY_GAPS = CONTRACT["settings"]["words"] == "gaps"

#: Tokens that two windows of a text share, at most.
_OVERLAP = 128

#: Characters of its neighbours that a piece of a chunk has on each side, at most.
_CONTEXT = 64


class Word(NamedTuple):
    """A word: ``text[start:end]``, and its tokens among those of its chunk or window."""

    start: int
    end: int
    first: int
    last: int


class Chunk(NamedTuple):
    """What lies between the ends of two gaps, ``text[start:end]``; tokens of a gap are mostly no word's.

    Of one that is too long it is a piece, which shows its neighbours' characters before ``inner``.
    """

    start: int
    end: int
    tokens: int
    words: list[Word]
    inner: int | None = None

    @property
    def first(self) -> int:
        """The first character whose words it gives."""
        return self.start if self.inner is None else self.inner


class Window(NamedTuple):
    """A part of a text that goes through the model at once: ``chunks[first:last]``."""

    first: int
    last: int


def chunks_of(tokenizer: Tokenizer, texts: Sequence[str], room: int) -> list[list[Chunk]]:
    """The chunks of each text; what has as many tokens as there is room is cut into pieces."""
    found = [[(text, *place) for place in _places(text)] for text in texts]
    chunks = [text[start:end] for places in found for text, start, end in places]
    encodings = iter(tokenizer.encode_batch(chunks, add_special_tokens=False))
    return [
        [
            chunk
            for text, start, end in places
            for chunk in _fitting(tokenizer, text, _chunk(text, start, end, next(encodings)), room)
        ]
        for places in found
    ]


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    """The tokens of a text's chunks, none of them cut into pieces."""
    chunks = [text[start:end] for start, end in _places(text)]
    return sum(map(len, tokenizer.encode_batch(chunks, add_special_tokens=False)))


def windows_of(chunks: Sequence[Chunk], room: int) -> list[Window]:
    """As few windows as hold no more tokens than there is room, overlapping by whole chunks.

    A piece is one by itself, as it has other tokens beside another.
    """
    sizes = (chunk.tokens if chunk.inner is None else room + 1 for chunk in chunks)
    ends = [0, *accumulate(sizes)]
    shared = min(_OVERLAP, room // 2)
    found: list[Window] = []
    first = last = 0
    while last < len(chunks):
        last = first + 1
        while last < len(chunks) and ends[last + 1] - ends[first] <= room:
            last += 1
        found.append(Window(first, last))
        first += 1
        while first < last and (
            ends[last] - ends[first] > shared
            or (last < len(chunks) and ends[last + 1] - ends[first] > room)
        ):
            first += 1
    return found


def words_of(chunks: Sequence[Chunk], tokens: int) -> Iterator[Word]:
    """The words of a window.

    Args:
        chunks: the window's.
        tokens: how many the graph was given: fewer where one character has more than fit.

    Raises:
        ModelError: the tokenizer did not treat the chunks by themselves.
    """
    expected = sum(chunk.tokens for chunk in chunks)
    if tokens != expected and not (chunks[0].inner is not None and tokens < expected):
        raise ModelError(
            f"the tokenizer gives {tokens} tokens for a text, and {expected} for what stands between "
            "its white space, so that no word's tokens are known; take special tokens out of it"
        )
    before = 0
    for chunk in chunks:
        for start, end, first, last in chunk.words:
            if before + first < tokens:
                yield Word(start, end, before + first, min(before + last, tokens))
        before += chunk.tokens


def _places(text: str) -> Iterator[tuple[int, int]]:
    """One behind another, as a search would begin anew at each character of a long gap."""
    end = 0
    while match := _CHUNK.match(text, end):
        yield match.span()
        end = match.end()


def _fitting(tokenizer: Tokenizer, text: str, chunk: Chunk, room: int) -> Iterator[Chunk]:
    """A chunk, or its halves, and halves of these; where each is a word, it has no context."""
    if chunk.tokens < room:
        yield chunk
        return
    shared = 0 if _BY_GAPS else min(_CONTEXT, room // 8)
    halves = [(chunk.start, chunk.end)]
    while halves:
        first, last = halves.pop()
        start, end = max(chunk.start, first - shared), min(chunk.end, last + shared)
        encoding = tokenizer.encode(text[start:end], add_special_tokens=False)
        if len(encoding.ids) < room or last - first == 1:
            yield _chunk(text, start, end, encoding)._replace(inner=first)
        else:
            middle = (first + last) // 2
            halves += [(middle, last), (first, middle)]


def _chunk(text: str, begin: int, behind: int, encoding: Encoding) -> Chunk:
    chunk, places, ids = text[begin:behind], encoding.offsets, encoding.word_ids
    gap, end = len(chunk) - len(chunk.lstrip(_GAP)), len(chunk.rstrip(_GAP))
    groups = [list(group) for _, group in groupby(range(len(ids)), lambda token: ids[token])]
    kept = [one for one in groups if places[one[0]][0] < end and places[one[-1]][1] > gap]
    starts = [max(gap, places[one[0]][0]) for one in kept]
    if _BY_GAPS and kept:
        kept, starts = [[kept[0][0], kept[-1][-1]]], [gap]
    words: list[Word] = []
    for group, start, stop in zip(kept, starts, [*starts[1:], end], strict=False):
        word = chunk[start:stop].rstrip(_WHITE_SPACE)
        if word:
            first = begin + start
            words.append(Word(first, first + len(word), group[0], group[-1] + 1))
    return Chunk(begin, behind, len(ids), words)
