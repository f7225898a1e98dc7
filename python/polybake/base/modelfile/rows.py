"""Pack token ids and their types into one number per token.

So a row that is cut, sorted, batched and padded is one list of numbers, for pairs and for single
texts, whose tokens all have type 0.
"""

from collections.abc import Sequence

Rows = Sequence[Sequence[int]]


def packed(ids: Sequence[int], types: Sequence[int], vocab_size: int) -> list[int]:
    """Add ``vocab_size`` times its type to each id."""
    return [token + vocab_size * kind for token, kind in zip(ids, types, strict=True)]


def unpacked(row: Sequence[int], vocab_size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The ids of a row, and their types."""
    return (
        tuple(token % vocab_size for token in row),
        tuple(token // vocab_size for token in row),
    )
