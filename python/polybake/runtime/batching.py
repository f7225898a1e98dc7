"""Form batches of rows, so that little of each is padding."""

from collections.abc import Iterator

from polybake.base.modelfile.rows import Rows

#: The tokens of a batch, by device; the fastest number on processors. Clients use the same.
BUDGETS = {"cpu": 512, "cuda": 16_384}

#: A batch has at most this many times its budget in pairs of tokens.
_PAIRS = 512


def batches(rows: Rows, budget: int) -> Iterator[list[int]]:
    """The places of rows that go together, longest first, so that little of a batch is padding."""
    places = sorted(range(len(rows)), key=lambda index: len(rows[index]), reverse=True)
    while places:
        longest = max(1, len(rows[places[0]]))
        # Layers hold a number for each token, attention a number for each pair of a row's tokens.
        size = max(1, min(budget // longest, _PAIRS * budget // longest**2))
        yield places[:size]
        del places[:size]
