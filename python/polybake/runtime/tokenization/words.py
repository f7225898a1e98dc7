"""The words of a text, and how many tokens each has."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from tokenizers import Encoding

from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.word_rule import Rule

#: A stretch of a text that a tokenizer treats on its own: a gap and all up to the next gap.
_CHUNK = re.compile(r"[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+\Z)?")
_GAP = " \t\n\r"

#: The most characters of its neighbours that a piece of a chunk has on each side.
CONTEXT = 64

#: Unicode's White_Space: no word ends in it.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


class Word(NamedTuple):
    """A word of a chunk.

    Attributes:
        start: The place of its first character in the text.
        end: The place after its last character.
        first: The place of its first token in the chunk.
        tokens: How many tokens it has.
    """

    start: int
    end: int
    first: int
    tokens: int


class Chunk(NamedTuple):
    """The text between the ends of two gaps, or a piece of it if it is too long.

    Attributes:
        start: The place of its first character in the text; it may begin with a gap.
        end: The place after its last character.
        tokens: How many tokens it has; tokens of a gap belong to no word.
        words: Its words, mostly one.
        inner: For a piece, its first character that is not context from the piece before.
    """

    start: int
    end: int
    tokens: int
    words: tuple[Word, ...]
    inner: int | None = None

    @property
    def first(self) -> int:
        """The place of its first character that is not context."""
        return self.start if self.inner is None else self.inner


def stretches(text: str) -> list[str]:
    """Return the stretches of a text that its chunks are made of, in order."""
    return [match.group() for match in _matches(text)]


def chunks(tokenizer: BakedTokenizer, text: str, room: int, rule: Rule) -> list[Chunk]:
    """Return the chunks of a text, in order; none if the text is blank.

    Args:
        tokenizer: A model's tokenizer.
        text: A text of any length.
        room: The most tokens of texts in a row; a chunk with as many is cut into smaller pieces.
        rule: Where words end.
    """
    spans = [match.span() for match in _matches(text)]
    encodings = tokenizer.bare([text[start:end] for start, end in spans])
    return [
        chunk
        for span, encoding in zip(spans, encodings, strict=True)
        for chunk in _fitting(tokenizer, text, _chunk(text, *span, encoding, rule), room, rule)
    ]


def _fitting(
    tokenizer: BakedTokenizer, text: str, chunk: Chunk, room: int, rule: Rule
) -> Iterator[Chunk]:
    """Yield a chunk, or its repeated halves, each with some characters around it as context.

    If words end only at gaps, a piece is a word, so it has no context.
    """
    if chunk.tokens < room:
        yield chunk
        return
    shared = 0 if rule == "gaps" else min(CONTEXT, room // 8)
    halves = [(chunk.start, chunk.end)]
    while halves:
        first, last = halves.pop()
        start, end = max(chunk.start, first - shared), min(chunk.end, last + shared)
        (encoding,) = tokenizer.bare([text[start:end]])
        if len(encoding.ids) < room or last - first == 1:
            yield _chunk(text, start, end, encoding, rule)._replace(inner=first)
        else:
            middle = (first + last) // 2
            halves += [(middle, last), (first, middle)]


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Match one after another, as a search would start anew at each character of a long gap."""
    end = 0
    while match := _CHUNK.match(text, end):
        yield match
        end = match.end()


def _chunk(text: str, start: int, end: int, encoding: Encoding, rule: Rule) -> Chunk:
    words = tuple(
        word._replace(start=start + word.start, end=start + word.end)
        for word in _words(text[start:end], encoding, rule)
    )
    return Chunk(start, end, len(encoding.ids), words)


def _words(chunk: str, encoding: Encoding, rule: Rule) -> Iterator[Word]:
    """Yield the words of a chunk; their places are counted in the chunk.

    Tokens of gaps belong to no word, unless the tokenizer itself begins a word with them, like
    Metaspace with ``\u2581``.
    """
    places, ids = encoding.offsets, encoding.word_ids
    gap, end = len(chunk) - len(chunk.lstrip(_GAP)), len(chunk.rstrip(_GAP))
    groups = [[*group] for _, group in groupby(range(len(ids)), lambda token: ids[token])]
    kept = [one for one in groups if places[one[0]][0] < end and places[one[-1]][1] > gap]
    starts = [max(gap, places[one[0]][0]) for one in kept]
    if rule == "gaps" and kept:
        kept, starts = [[kept[0][0], kept[-1][-1]]], [gap]
    for group, start, stop in zip(kept, starts, [*starts[1:], end], strict=False):
        word = chunk[start:stop].rstrip(_WHITE_SPACE)
        if word:
            yield Word(start, start + len(word), group[0], group[-1] + 1 - group[0])
