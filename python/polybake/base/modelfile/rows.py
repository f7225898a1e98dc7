"""Token ids and their types, as one number a token.

A row that is cut, sorted, batched and padded is then one list of numbers, of pairs as of single
texts, whose tokens are all of type 0.
"""

from collections.abc import Sequence

Rows = Sequence[Sequence[int]]


def packed(ids: Sequence[int], types: Sequence[int], vocab_size: int) -> list[int]:
    """Each id plus ``vocab_size`` for each type above 0."""
    return [one + vocab_size * kind for one, kind in zip(ids, types, strict=True)]


def unpacked(row: Sequence[int], vocab_size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of a row, and their types."""
    return (
        tuple(token % vocab_size for token in row),
        tuple(token // vocab_size for token in row),
    )
