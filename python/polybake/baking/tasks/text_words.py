"""The words of texts, for the tasks that work on words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from polybake.baking.sources.source import Source
from polybake.baking.tasks.task import Known
from polybake.baking.tokenizer.words import Chunk, Rule, chunks, word_rule
from polybake.base.modelfile.manifest import Contract
from polybake.runtime.pairs import surrounded
from polybake.runtime.tokenizer import BakedTokenizer

NumberRows = NDArray[np.number[Any]]


class PlacedWord(NamedTuple):
    """A word of a text.

    Attributes:
        start: The place of its first character.
        end: The place after its last character.
        first: The place of its first token in the text.
        last: The place after its last token.
    """

    start: int
    end: int
    first: int
    last: int


def word_settings(source: Source, special: int, *, finest: bool) -> dict[str, JsonValue]:
    """Return what clients must know to find words, and to refuse texts that are too long."""
    rule = word_rule(source.tokenizer, finest=finest)
    return {**rule._asdict(), "room": source.max_length - special}


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


def fitting(text: str, chunks_of: Callable[[str], Sequence[Chunk]], held: int) -> str:
    """Return the beginning of a text that a row holds: whole chunks, or a part of the first one."""
    tokens = 0
    for chunk in chunks_of(text):
        tokens += chunk.tokens
        # The tokenizer may have cut a chunk that fills a row.
        if tokens > held or chunk.tokens == held:
            return text[: chunk.start] or fitting(text[: chunk.end // 2], chunks_of, held)
    return text


def words_of(chunks: Sequence[Chunk], tokens: int) -> Iterator[PlacedWord]:
    """Yield the words of a text's chunks."""
    before = 0
    for chunk in chunks:
        for word in chunk.words:
            first = before + word.first
            if first < tokens:
                yield PlacedWord(word.start, word.end, first, min(first + word.tokens, tokens))
        before += chunk.tokens
