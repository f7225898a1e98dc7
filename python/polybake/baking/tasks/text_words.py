"""The words of texts, for the tasks that work on words."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Source
from polybake.baking.tasks.task import Known
from polybake.base.modelfile.manifest import Contract
from polybake.runtime.tokenization.pairs import surrounded
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from polybake.runtime.tokenization.windows import windows
from polybake.runtime.tokenization.word_rule import Rule, word_rule
from polybake.runtime.tokenization.words import Chunk, chunks

NumberRows = NDArray[np.number[Any]]


class PlacedWord(NamedTuple):
    """A word of a text.

    Attributes:
        start: The place of its first character.
        end: The place after its last character.
        first: The place of its first token in the window.
        last: The place after its last token.
    """

    start: int
    end: int
    first: int
    last: int


def word_settings(source: Source, special: int, *, finest: bool) -> dict[str, JsonValue]:
    """Return what clients must know to find words, and to cut texts that are too long.

    Args:
        source: The model.
        special: The number of special tokens in a row.
        finest: As in `word_rule`.
    """
    found = word_rule(source.tokenizer, finest=finest)
    return {**found._asdict(), "room": source.max_length - special}


def known_of(contract: Contract, tokenizer: BakedTokenizer) -> Known:
    """Return what the clients of a contract know."""
    rule = cast(Rule, contract.settings.get("words", "gaps"))
    return Known(
        contract.settings,
        tokenizer.token,
        partial(chunks, tokenizer, rule=rule),
        partial(_room_beside, contract, tokenizer),
    )


def _room_beside(contract: Contract, tokenizer: BakedTokenizer, text: str) -> int:
    pair = contract.pair
    if pair is None or pair.truncate != "only_second":
        return 1
    (ids,) = tokenizer.encode(surrounded(pair, (text, ""))[:1])
    return contract.max_length - pair.special - len(ids[: pair.texts[0].limit])


def room(settings: Mapping[str, JsonValue]) -> int:
    """Return the most tokens of texts in a row."""
    return cast(int, settings["room"])


def parts(text: str, found: Sequence[Chunk], held: int) -> list[str]:
    """Return the parts of a text that go through the model; the text itself if it is blank."""
    cut = [text[found[one.first].start : found[one.last - 1].end] for one in windows(found, held)]
    return cut or [text]


def words_of(found: Sequence[Chunk], tokens: int) -> Iterator[PlacedWord]:
    """Yield the words of a window.

    Args:
        found: The window's chunks.
        tokens: How many of their tokens the graph was fed: fewer if a character has more tokens
            than a row holds.
    """
    before = 0
    for chunk in found:
        for word in chunk.words:
            first = before + word.first
            if first < tokens:
                yield PlacedWord(word.start, word.end, first, min(first + word.tokens, tokens))
        before += chunk.tokens
