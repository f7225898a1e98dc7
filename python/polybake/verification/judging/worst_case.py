"""The rows of a client that lie farthest from the golden rows, for reports."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from polybake.base.modelfile.fixture import Text
from polybake.verification.verdict import Stage

#: The tokens that are shown, and how many of them come before the first difference.
TOKENS, _BEFORE = 24, 3
#: The most characters that are shown.
CHARACTERS = 300


@dataclass(frozen=True)
class TokenPair:
    """An expected token and the client's token; None if there is no such token."""

    expected: str | None
    found: str | None


@dataclass(frozen=True)
class WorstCase:
    """A row of a case, and where it differs most.

    Attributes:
        why: The fault that the case finds.
        row: The row of the case's vectors, or of its token ids.
        text: The row's text, or the two of a pair, cut; empty if a text has several rows.
        tokens: Tokens from shortly before the first difference; empty if all are equal.
        beyond: Whether the element below is a failure.
        stage: The stage of the numbers below; None if no vector could be compared.
        element, expected, found, difference: The element of the vector that differs most.
        limit: The limit of the difference; None for integers.
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
    """Return a text or a pair, each cut if it is long."""
    parts = (text,) if isinstance(text, str) else text
    return tuple(f"{part[:CHARACTERS]}…" if len(part) > CHARACTERS else part for part in parts)


def side_by_side(
    expected: Sequence[int], found: Sequence[int], vocabulary: Mapping[int, str]
) -> tuple[TokenPair, ...]:
    """Align two rows of token ids, so that equal tokens share a line."""
    same = (token == other for token, other in zip(expected, found, strict=False))
    first = next((at for at, equal in enumerate(same) if not equal), min(len(expected), len(found)))
    # A wrong client may give any number of ids, and the time to align them grows with its square.
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
    """Return the tokens of a tokenizer.json by id, with the added tokens.

    A file in another format than that of tokenizers has no tokens; then ids are shown.
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
