"""The words of texts, for the tasks that say something of them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Source
from polybake.baking.tasks.task import Known
from polybake.base.modelfile.manifest import Contract
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.windows import windows
from polybake.runtime.tokenization.word_rule import Rule, word_rule
from polybake.runtime.tokenization.words import Chunk, chunks

NumberRows = NDArray[np.number[Any]]


class PlacedWord(NamedTuple):
    """A word of a text.

    Attributes:
        start: Its first character.
        end: The one behind its last.
        first: Its first token, counted among those of its window.
        last: The one behind its last.
    """

    start: int
    end: int
    first: int
    last: int


def word_settings(source: Source, special: int, *, finest: bool) -> dict[str, JsonValue]:
    """What clients must know to find words, and to cut texts that are too long.

    Args:
        source: The model.
        special: Tokens of a row that are no text's.
        finest: As `word_rule`.
    """
    found = word_rule(source.tokenizer, finest=finest)
    return {**found._asdict(), "room": source.max_length - special}


def known_of(contract: Contract, tokenizer: BakedTokenizer) -> Known:
    """What clients of a contract know."""
    rule = cast(Rule, contract.settings.get("words", "gaps"))
    return Known(contract.settings, tokenizer.token, partial(chunks, tokenizer, rule=rule))


def room(settings: Mapping[str, JsonValue]) -> int:
    """Tokens of a row that are of texts, at most."""
    return cast(int, settings["room"])


def parts(text: str, found: Sequence[Chunk], held: int) -> list[str]:
    """The parts of a text that go through the model, one where it is blank."""
    cut = [text[found[one.first].start : found[one.last - 1].end] for one in windows(found, held)]
    return cut or [text]


def words_of(found: Sequence[Chunk], tokens: int) -> Iterator[PlacedWord]:
    """The words of a window.

    Args:
        found: The window's chunks.
        tokens: How many of theirs the graph was given: fewer where one character has more than a
            row holds.
    """
    before = 0
    for chunk in found:
        for word in chunk.words:
            first = before + word.first
            if first < tokens:
                yield PlacedWord(word.start, word.end, first, min(first + word.tokens, tokens))
        before += chunk.tokens
