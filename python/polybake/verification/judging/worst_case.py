"""The rows of a client that lie farthest from the golden ones, as people want to see them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from polybake.base.modelfile.fixture import Text
from polybake.verification.verdict import Stage

#: Tokens that are shown, of which so many stand before the first difference.
TOKENS, _BEFORE = 24, 3
#: Characters that are shown.
CHARACTERS = 300


@dataclass(frozen=True)
class TokenPair:
    """A token that was expected beside the client's own; None where there is none."""

    expected: str | None
    found: str | None


@dataclass(frozen=True)
class WorstCase:
    """One row of a case, and where it differs most.

    Attributes:
        why: The fault that the case finds.
        row: Of the case's vectors, or of its token ids.
        text: The row's text, or two of a pair, cut; none where a text has several rows.
        tokens: From shortly before the first one that differs; none where all are equal.
        beyond: Whether the element below is a failure.
        stage: Where the numbers below come from; None where no vector could be compared.
        element, expected, found, difference: Of the vector, where it differs most.
        limit: Of the difference; None of integers.
    """

    case: str
    why: str
    prompt: str | None
    row: int
    text: tuple[str, ...]
    tokens: tuple[TokenPair, ...] = ()
    beyond: bool = False
    stage: Stage | None = None
    element: int | None = None
    expected: float | None = None
    found: float | None = None
    difference: float | None = None
    limit: float | None = None


def shown_text(text: Text) -> tuple[str, ...]:
    """A text or a pair, each cut where it is long."""
    parts = (text,) if isinstance(text, str) else text
    return tuple(f"{part[:CHARACTERS]}…" if len(part) > CHARACTERS else part for part in parts)


def side_by_side(
    expected: Sequence[int], found: Sequence[int], vocabulary: Mapping[int, str]
) -> tuple[TokenPair, ...]:
    """Two rows of token ids beside each other, so that what both have shares a line."""
    same = (one == other for one, other in zip(expected, found, strict=False))
    first = next((at for at, equal in enumerate(same) if not equal), min(len(expected), len(found)))
    # A wrong client may give any number of ids, and aligning takes the square of it.
    part = slice(max(0, first - _BEFORE), first + TOKENS)
    expected, found = expected[part], found[part]
    pairs: list[tuple[int | None, int | None]] = []
    steps = SequenceMatcher(None, expected, found, autojunk=False).get_opcodes()
    for _, a, to_a, b, to_b in steps:
        pairs += zip_longest(expected[a:to_a], found[b:to_b])

    def shown(token: int | None) -> str | None:
        return None if token is None else f"{vocabulary.get(token, '?')} {token}"

    return tuple(TokenPair(shown(a), shown(b)) for a, b in pairs[:TOKENS])


def read_vocabulary(tokenizer: str) -> dict[int, str]:
    """The tokens of a tokenizer.json by their ids, those that were added among them.

    What is written in another way than tokenizers writes it has no tokens; ids are shown then.
    """
    try:
        data: Any = json.loads(tokenizer)
        vocabulary = data["model"]["vocab"]
        if isinstance(vocabulary, dict):
            tokens = {number: token for token, number in vocabulary.items()}
        else:  # Unigram: tokens with their scores
            tokens = {number: token for number, (token, _) in enumerate(vocabulary)}
        added = data.get("added_tokens", ())
        return tokens | {token["id"]: token["content"] for token in added}
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}
