"""Clients that do wrong between batches or in streams, which no call of few texts shows."""

from __future__ import annotations

from collections.abc import Callable

from faulty.reference import Reference, Vectors

#: Rows of a batch.
SIZE = 16

Batches = list[tuple[int, ...]]


def batched(run: Callable[[Batches], list[tuple[int, int]]]) -> type[Reference]:
    """A client that sorts rows by length, and gives each place the vector of a row of a batch."""

    class Batched(Reference):
        def embed(self, request):
            ids = self.tokenize(request)
            places = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
            found: Vectors = [[9e9] * 8 for _ in ids]
            vectors = self.vectors(ids, request["prompt"])
            batches = [tuple(places[at : at + SIZE]) for at in range(0, len(places), SIZE)]
            for place, row in run(batches):
                found[place] = vectors[row]
            return self.encode(found)

    return Batched


def right(batches: Batches) -> list[tuple[int, int]]:
    """Each place with its own row."""
    return [(place, place) for batch in batches for place in batch]


def streaming(texts: Callable[[list[str]], list[str]]) -> type[Reference]:
    """A client whose stream is of other texts."""

    class Streaming(Reference):
        def stream(self, request):
            return super().stream(request | {"texts": texts(request["texts"])})

    return Streaming


FAULTS = {
    "LosesBatches": batched(lambda batches: right(batches[:1])),
    "LosesTheShortBatch": batched(
        lambda batches: right([*batches[:1], *(one for one in batches if len(one) == SIZE)])
    ),
    # The second batch is run in the place of the third, too.
    "DoublesABatch": batched(
        lambda batches: [*right(batches), *zip(*batches[2:0:-1], strict=False)]
    ),
    # Batches are put one behind the other, as they ran.
    "OrderOfBatches": batched(
        lambda batches: (
            [*enumerate(row for batch in batches for row in batch)]
            if len(batches) > 1
            else right(batches)
        )
    ),
    "StreamEndsEarly": streaming(lambda texts: texts[:-1]),
    # A stream fills one vector again and again, so that all are the last.
    "StreamReusesABuffer": streaming(lambda texts: texts[-1:] * len(texts)),
}
