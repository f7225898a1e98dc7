"""Clients that do wrong between batches, which no call of few texts shows."""

from __future__ import annotations

from faulty.reference import Reference, Vectors

#: Rows of a batch.
SIZE = 16


class BatchFault(Reference):
    """The base of clients that sort rows by length and run them batch by batch."""

    def embed(self, request):
        ids = self.tokenize(request)
        places = sorted(range(len(ids)), key=lambda place: -len(ids[place]))
        found: Vectors = [[9e9] * 8 for _ in ids]
        batches = [tuple(places[at : at + SIZE]) for at in range(0, len(places), SIZE)]
        self.run(self.vectors(ids, request["prompt"]), batches, found)
        return self.encode(found)

    def run(self, vectors: Vectors, batches: list[tuple[int, ...]], found: Vectors) -> None:
        for batch in batches:
            for place in batch:
                found[place] = vectors[place]


class LosesBatches(BatchFault):
    """Only the first batch is run."""

    def run(self, vectors, batches, found):
        super().run(vectors, batches[:1], found)


class LosesTheShortBatch(BatchFault):
    """The last batch is not run where it is not full."""

    def run(self, vectors, batches, found):
        super().run(vectors, [*batches[:1], *(one for one in batches if len(one) == SIZE)], found)


class DoublesABatch(BatchFault):
    """The second batch is run in the place of the third, too."""

    def run(self, vectors, batches, found):
        super().run(vectors, batches, found)
        for place, other in zip(*batches[1:3], strict=False):
            found[other] = vectors[place]


class OrderOfBatches(BatchFault):
    """Batches are put one behind the other, as they ran."""

    def run(self, vectors, batches, found):
        if len(batches) > 1:
            found[:] = [vectors[place] for batch in batches for place in batch]
        else:
            super().run(vectors, batches, found)


class StreamEndsEarly(Reference):
    """A stream leaves out its last text."""

    def stream(self, request):
        return super().stream(request | {"texts": request["texts"][:-1]})


class StreamReusesABuffer(Reference):
    """A stream fills one vector again and again, so that all are the last."""

    def stream(self, request):
        return super().stream(request | {"texts": request["texts"][-1:] * len(request["texts"])})


class HasNoStream(Reference):
    """A client of an earlier version does not know of streams."""

    def start(self, request):
        return super().start(request) | {"capabilities": ["tokenize", "embed_ids", "embed"]}

    def answer(self, request):
        if request["cmd"] == "stream":
            return {"skipped": True, "reason": "unknown command stream"}
        return super().answer(request)
