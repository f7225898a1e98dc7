"""Subtract a fixed vector from every embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polybake.steps.arrays import Vector, check_embedding
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Subtract(Step):
    """Subtract ``vector``, such as the mean embedding of a corpus (mean debiasing).

    Attributes:
        vector: float32 ``[dimension]``, finite.
    """

    name: ClassVar[str] = "subtract"

    vector: Vector

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add ``x - vector`` to the graph.

        Raises:
            InputError: the vector's size is not the embedding's.
        """
        from onnxscript import ir

        check_embedding(x, len(self.vector), "subtract: the vector")
        return op.Sub(x, op.initializer(ir.tensor(self.vector), "vector"))

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Compute ``x - vector``."""
        return x - self.vector
