"""The words of a text, and how many tokens each has."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from tokenizers import Encoding

from polybake.tokenization.tokenizer import BakedTokenizer
from polybake.tokenization.tokenizer_json import Component, TokenizerJson

#: A stretch of a text that a tokenizer treats by itself: a gap and what follows up to the next.
_CHUNK = re.compile(r"[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+\Z)?")
_GAP = " \t\n\r"

#: Unicode's White_Space: no word ends in it.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

#: Where a word ends besides at gaps: nowhere, before a token without the prefix of a continuation,
#: or where GPT-2's pre-tokenizer splits.
Rule = Literal["gaps", "continuation", "gpt2"]


class Word(NamedTuple):
    """A word.

    Attributes:
        start: Its first character, counted in the text.
        end: The one behind its last.
        first: Its first token, counted in the chunk.
        tokens: How many it has.
    """

    start: int
    end: int
    first: int
    tokens: int


class Chunk(NamedTuple):
    """What lies between the ends of two gaps.

    Attributes:
        start: Its first character, counted in the text; it may begin with a gap.
        end: The one behind its last.
        tokens: How many it has; those of a gap belong to no word.
        words: Mostly one.
    """

    start: int
    end: int
    tokens: int
    words: tuple[Word, ...]


class WordRule(NamedTuple):
    """Where the words of a text end.

    Attributes:
        words: The rule.
        continuation: What a token begins with that continues a word; empty where none does.
        composed: Whether GPT-2's pre-tokenizer sees letters composed with their accents.
    """

    words: Rule
    continuation: str = ""
    composed: bool = False


def word_rule(tokenizer: BakedTokenizer, *, finest: bool) -> WordRule:
    """Where the words of a tokenizer end.

    Args:
        tokenizer: Of a model.
        finest: Where its pre-tokenizer splits; else as a person who tags would, at gaps.

    Source: transformers ``TokenClassificationPipeline.gather_pre_entities``, whose words end at
    gaps where a tokenizer has no such prefix; ``QuestionAnsweringPipeline.get_indices``, whose
    words are the tokenizer's.
    """
    data = TokenizerJson.model_validate_json(tokenizer.json)
    prefix = data.model.get("continuing_subword_prefix")
    if prefix:
        return WordRule("continuation", str(prefix))
    (*others, last) = data.parts("pre_tokenizer") or [Component()]
    splits = not others and last.type == "ByteLevel" and bool(last.get("use_regex", True))
    normalizers = [part.type for part in data.parts("normalizer")]
    if finest and splits and normalizers in ([], ["NFC"]):
        return WordRule("gpt2", composed=bool(normalizers))
    return WordRule("gaps")


def stretches(text: str) -> list[str]:
    """What a text's chunks are made of, in their order."""
    return [match.group() for match in _matches(text)]


def chunks(tokenizer: BakedTokenizer, text: str, rule: Rule) -> list[Chunk]:
    """The chunks of a text, in their order; none where it is blank."""
    found = [*_matches(text)]
    encodings = tokenizer.bare([match.group() for match in found])
    return [
        Chunk(match.start(), match.end(), len(one.ids), tuple(_words(match, one, rule)))
        for match, one in zip(found, encodings, strict=True)
    ]


def _matches(text: str) -> Iterator[re.Match[str]]:
    """One behind another, as a search would begin anew at each character of a long gap."""
    end = 0
    while match := _CHUNK.match(text, end):
        yield match
        end = match.end()


def _words(match: re.Match[str], encoding: Encoding, rule: Rule) -> Iterator[Word]:
    """The words of a chunk.

    Tokens of gaps belong to none, unless the tokenizer itself begins a word with them, such as
    Metaspace with ``\u2581``.
    """
    chunk, places, ids = match.group(), encoding.offsets, encoding.word_ids
    gap, end = len(chunk) - len(chunk.lstrip(_GAP)), len(chunk.rstrip(_GAP))
    groups = [[*group] for _, group in groupby(range(len(ids)), lambda token: ids[token])]
    kept = [one for one in groups if places[one[0]][0] < end and places[one[-1]][1] > gap]
    starts = [max(gap, places[one[0]][0]) for one in kept]
    if rule == "gaps" and kept:
        kept, starts = [[kept[0][0], kept[-1][-1]]], [gap]
    for group, start, stop in zip(kept, starts, [*starts[1:], end], strict=False):
        word = chunk[start:stop].rstrip(_WHITE_SPACE)
        if word:
            first = match.start() + start
            yield Word(first, first + len(word), group[0], group[-1] + 1 - group[0])
