"""What callers may give of pairs, checked before anything is run."""

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

from .arguments import checked_rows, checked_text
from .contract import CONTRACT
from .errors import InvalidIdsError
from .tokens import Pair, Tokens

_TYPES = 1 + max(piece["type_id"] for piece in CONTRACT["pair"]["pieces"])


def checked_pairs(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Pairs of texts of valid Unicode: of a collection all at once, else each as it is taken."""
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise TypeError(f"expected a list of pairs of texts, got {type(pairs).__name__}")
    checked = (_checked_pair(index, pair) for index, pair in enumerate(pairs))
    return iter(list(checked)) if isinstance(pairs, Sized) else checked


def _checked_pair(index: int, pair: Any) -> Pair:
    name = f"pairs[{index}]"
    match pair:
        case [str() as first, str() as second]:
            return checked_text(first, name, index), checked_text(second, name, index)
    raise TypeError(f"{name} is {type(pair).__name__}; expected two strings")


def checked_tokens(rows: Sequence[Tokens]) -> list[Tokens]:
    """Tokens that the model has, none of too long a pair."""
    if not isinstance(rows, (list, tuple)):
        raise TypeError(f"expected rows of tokens, got {type(rows).__name__}")
    for number, row in enumerate(rows):
        if not isinstance(row, tuple) or len(row) != 2:
            raise TypeError(f"rows[{number}] is {type(row).__name__}; expected Tokens")
    ids = checked_rows([row[0] for row in rows])
    checked = [Tokens(one, list(row[1])) for one, row in zip(ids, rows, strict=True)]
    for number, tokens in enumerate(checked):
        known, given = len(tokens.ids), len(tokens.type_ids)
        if known != given:
            raise InvalidIdsError(
                number, f"rows[{number}] has {known} ids and {given} types; give as many"
            )
        for place, kind in enumerate(tokens.type_ids):
            if kind not in range(_TYPES):
                raise InvalidIdsError(
                    number,
                    f"rows[{number}].type_ids[{place}] is {kind!r}; "
                    f"expected a whole number from 0 to {_TYPES - 1}",
                )
    return checked
