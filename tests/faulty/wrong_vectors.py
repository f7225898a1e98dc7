"""Clients that give other vectors, or write them wrongly."""

from __future__ import annotations

import struct

from faulty.reference import Reference, Vectors


class VectorFault(Reference):
    """The base of those that give other vectors."""

    def encode(self, vectors):
        return super().encode(self.spoil(vectors))

    def spoil(self, vectors: Vectors) -> Vectors:
        raise NotImplementedError


class OneFloatOff(VectorFault):
    """The last element of the last row is off by 2e-5."""

    def spoil(self, vectors):
        vectors[-1][-1] += 2e-5
        return vectors


class SwappedRows(VectorFault):
    """The rows of a batch come back in another order."""

    def spoil(self, vectors):
        return vectors[::-1]


class RepeatedRow(VectorFault):
    """Every row of a batch is the first one's."""

    def spoil(self, vectors):
        return [vectors[0]] * len(vectors)


class MissingRow(VectorFault):
    """The last row of a batch is lost."""

    def spoil(self, vectors):
        return vectors[:-1] or [[]]


class NotANumber(VectorFault):
    """One element is NaN."""

    def spoil(self, vectors):
        vectors[0][3] = float("nan")
        return vectors


class Infinite(VectorFault):
    """One element is infinite."""

    def spoil(self, vectors):
        vectors[-1][0] = float("inf")
        return vectors


class Zeros(VectorFault):
    """Every element is 0."""

    def spoil(self, vectors):
        return [[0.0] * len(row) for row in vectors]


class Negated(VectorFault):
    """Every element has the other sign."""

    def spoil(self, vectors):
        return [[-x for x in row] for row in vectors]


class NotNormalised(VectorFault):
    """Vectors are longer by 0.1 percent."""

    def spoil(self, vectors):
        return [[1.001 * x for x in row] for row in vectors]


class HalfPrecision(VectorFault):
    """Elements went through float16."""

    def spoil(self, vectors):
        return [[struct.unpack("e", struct.pack("e", x))[0] for x in row] for row in vectors]


class DependsOnBatch(VectorFault):
    """A text among others gets another vector than alone."""

    def spoil(self, vectors):
        return [[x + 1e-3 * (len(vectors) > 1) for x in row] for row in vectors]


class GivesTheLastVectors(Reference):
    """embed runs nothing: it gives what the last embed_ids left in memory."""

    left = ((0.0,),)

    def embed_ids(self, request):
        self.left = self.vectors(request["input_ids"], request["prompt"])
        return self.encode(self.left)

    def embed(self, request):  # noqa: ARG002 - a stage's signature
        return self.encode(self.left)


class WrongShape(Reference):
    """Rows and columns are exchanged."""

    def encode(self, vectors):
        encoded = super().encode(vectors)
        return encoded | {"shape": encoded["shape"][::-1]}


class ClaimsFloat64(Reference):
    """float32 data is said to be float64."""

    def encode(self, vectors):
        return super().encode(vectors) | {"dtype": "float64"}


class TruncatedData(Reference):
    """The base64 ends early."""

    def encode(self, vectors):
        encoded = super().encode(vectors)
        return encoded | {"data": encoded["data"][:-4]}


class BrokenData(Reference):
    """The data is not base64."""

    def encode(self, vectors):
        return super().encode(vectors) | {"data": "*"}


class VectorsAsLists(Reference):
    """Vectors are written as JSON numbers, which the protocol does not know."""

    def encode(self, vectors):
        return vectors
