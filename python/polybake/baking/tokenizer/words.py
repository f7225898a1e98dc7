"""The words of a text, how many tokens each has, and the rule by which they end."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

from tokenizers import Encoding

from polybake.baking.tokenizer.tokenizer_json import Component, TokenizerJson
from polybake.runtime.tokenizer import BakedTokenizer

#: A word ends at gaps. It may also end before a token without the prefix of a continuation, or
#: where GPT-2's pre-tokenizer splits.
Rule = Literal["gaps", "continuation", "gpt2"]

#: A stretch of a text that a tokenizer treats on its own: a gap and all up to the next gap.
_CHUNK = re.compile(r"[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+\Z)?")
_GAP = " \t\n\r"

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
    """The text between the ends of two gaps.

    Attributes:
        start: The place of its first character in the text; it may begin with a gap.
        end: The place after its last character.
        tokens: How many tokens it has; tokens of a gap belong to no word.
        words: Its words, mostly one.
    """

    start: int
    end: int
    tokens: int
    words: tuple[Word, ...]


def stretches(text: str) -> list[str]:
    """Return the stretches of a text that its chunks are made of, in order."""
    return [match.group() for match in _matches(text)]


def chunks(tokenizer: BakedTokenizer, text: str, rule: Rule) -> list[Chunk]:
    """Return the chunks of a text, in order; none if the text is blank."""
    spans = [match.span() for match in _matches(text)]
    encodings = tokenizer.bare([text[start:end] for start, end in spans])
    return [
        _chunk(text, *span, encoding, rule) for span, encoding in zip(spans, encodings, strict=True)
    ]


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
    runs = [group for group in groups if places[group[0]][0] < end and places[group[-1]][1] > gap]
    starts = [max(gap, places[group[0]][0]) for group in runs]
    if rule == "gaps" and runs:
        runs, starts = [[runs[0][0], runs[-1][-1]]], [gap]
    for group, start, stop in zip(runs, starts, [*starts[1:], end], strict=False):
        word = chunk[start:stop].rstrip(_WHITE_SPACE)
        if word:
            yield Word(start, start + len(word), group[0], group[-1] + 1 - group[0])


class WordRule(NamedTuple):
    """The rule by which the words of a text end.

    Attributes:
        words: The rule.
        continuation: The prefix of tokens that continue a word; empty without such a prefix.
        composed: Whether GPT-2's pre-tokenizer sees letters composed with their accents.
    """

    words: Rule
    continuation: str = ""
    composed: bool = False


def word_rule(tokenizer: BakedTokenizer, *, finest: bool) -> WordRule:
    """Return the rule by which a tokenizer's words end.

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
