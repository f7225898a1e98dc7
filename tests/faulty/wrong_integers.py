"""Clients of a quantized model that give other integers or bits."""

from __future__ import annotations

from faulty.reference import Reference
from faulty.wrong_vectors import VectorFault


class OneStepOff(VectorFault):
    """The last element of the last row is the step below."""

    def spoil(self, vectors):
        vectors[-1][-1] -= 1
        return vectors


class RoundsUp(VectorFault):
    """Values are rounded, not cut: about half of them end a step higher."""

    def spoil(self, vectors):
        return [[min(x + i % 2, 127) for i, x in enumerate(row)] for row in vectors]


class TwoStepsAtAnEdge(VectorFault):
    """An element that may differ by one step differs by two."""

    def spoil(self, vectors):
        vectors[0][0] += 2
        return vectors


class Unsigned(Reference):
    """int8 is read as uint8."""

    def encode(self, vectors):
        return super().encode(vectors) | {"dtype": "uint8"}


class TurnedBit(VectorFault):
    """One bit of the last element is turned."""

    def spoil(self, vectors):
        vectors[-1][-1] ^= 0b00010000
        return vectors


class BitOrder(VectorFault):
    """The first dimension is the lowest bit of its byte."""

    def spoil(self, vectors):
        return [[int(f"{x:08b}"[::-1], 2) for x in row] for row in vectors]


class ByteOrder(VectorFault):
    """The bytes of a row stand in the other order."""

    def spoil(self, vectors):
        return [row[::-1] for row in vectors]


class LessHalf(VectorFault):
    """Bytes are less 128, as those of binary, not of ubinary."""

    def spoil(self, vectors):
        return [[x ^ 128 for x in row] for row in vectors]
