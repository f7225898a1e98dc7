"""Clients that give other vectors or token ids, or write them wrongly."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from faulty.reference import Reference, Vectors


def spoiled(spoil: Callable[[Vectors], Vectors]) -> type[Reference]:
    """A client that gives other vectors."""

    class Spoiled(Reference):
        def encode(self, vectors):
            return super().encode(spoil(vectors) if vectors else vectors)

    return Spoiled


def put(vectors: Vectors, row: int, element: int, value: float) -> Vectors:
    """The vectors with one other element."""
    vectors[row][element] = value
    return vectors


def written(write: Callable[[dict[str, Any]], object]) -> type[Reference]:
    """A client that writes right vectors wrongly."""

    class Written(Reference):
        def encode(self, vectors):
            return write(super().encode(vectors))

    return Written


def tokenizing(change: Callable[[list[list[int]]], list[list[Any]]]) -> type[Reference]:
    """A client that gives other token ids, and right vectors."""

    class Tokenizing(Reference):
        def tokenize(self, request):
            return change(super().tokenize(request))

    return Tokenizing


class ForgetsPrompt(Reference):
    """The prompt is not put before the text."""

    def answer(self, request):
        return super().answer(request | {"prompt": None} if "texts" in request else request)


class GivesTheLastVectors(Reference):
    """embed runs nothing: it gives what the last embed_ids left in memory."""

    left = ((0.0,),)

    def embed_ids(self, request):
        self.left = self.vectors(request["input_ids"], request["prompt"])
        return self.encode(self.left)

    def embed(self, request):  # noqa: ARG002 - a stage's signature
        return self.encode(self.left)


class VectorsAsLists(Reference):
    """Vectors are written as JSON numbers, which the protocol does not know."""

    def encode(self, vectors):
        return vectors


FAULTS: dict[str, type[Reference]] = {
    "OneFloatOff": spoiled(lambda v: put(v, -1, -1, v[-1][-1] + 2e-5)),
    "SwappedRows": spoiled(lambda v: v[::-1]),
    "RepeatedRow": spoiled(lambda v: [v[0]] * len(v)),
    "MissingRow": spoiled(lambda v: v[:-1] or [[]]),
    "NotANumber": spoiled(lambda v: put(v, 0, 3, float("nan"))),
    "Infinite": spoiled(lambda v: put(v, -1, 0, float("inf"))),
    "Zeros": spoiled(lambda v: [[0.0] * len(row) for row in v]),
    "Negated": spoiled(lambda v: [[-x for x in row] for row in v]),
    "NotNormalised": spoiled(lambda v: [[1.001 * x for x in row] for row in v]),
    "HalfPrecision": spoiled(
        lambda v: [[struct.unpack("e", struct.pack("e", x))[0] for x in row] for row in v]
    ),
    "DependsOnBatch": spoiled(lambda v: [[x + 1e-3 * (len(v) > 1) for x in row] for row in v]),
    "GivesTheLastVectors": GivesTheLastVectors,
    "WrongShape": written(lambda coded: coded | {"shape": coded["shape"][::-1]}),
    "ClaimsFloat64": written(lambda coded: coded | {"dtype": "float64"}),
    "TruncatedData": written(lambda coded: coded | {"data": coded["data"][:-4]}),
    "BrokenData": written(lambda coded: coded | {"data": "*"}),
    "VectorsAsLists": VectorsAsLists,
    # of int8
    "OneStepOff": spoiled(lambda v: put(v, -1, -1, v[-1][-1] - 1)),
    "RoundsUp": spoiled(lambda v: [[min(x + i % 2, 127) for i, x in enumerate(row)] for row in v]),
    "TwoStepsAtAnEdge": spoiled(lambda v: put(v, 0, 0, v[0][0] + 2)),  # which may differ by one
    "Unsigned": written(lambda coded: coded | {"dtype": "uint8"}),
    # of bits, eight in a byte
    "TurnedBit": spoiled(lambda v: put(v, -1, -1, v[-1][-1] ^ 0b00010000)),
    "BitOrder": spoiled(lambda v: [[int(f"{x:08b}"[::-1], 2) for x in row] for row in v]),
    "ByteOrder": spoiled(lambda v: [row[::-1] for row in v]),
    "LessHalf": spoiled(lambda v: [[x ^ 128 for x in row] for row in v]),  # as those of binary
    # of token ids
    "WrongId": tokenizing(lambda ids: [*ids[:-1], [*ids[-1][:-1], ids[-1][-1] + 1]]),
    "DroppedToken": tokenizing(lambda ids: [*ids[:-1], ids[-1][:-1]]),
    "AddedToken": tokenizing(lambda ids: [[*row, 0] for row in ids]),
    "IdsAsFloats": tokenizing(lambda ids: [[float(i) for i in row] for row in ids]),
    "ForgetsPrompt": ForgetsPrompt,
}
