"""Subtract a fixed vector from every embedding."""

from typing import ClassVar

from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import Vector, check_embedding
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Subtract(Pointwise):
    """Subtract ``vector``, such as the mean embedding of a corpus (mean debiasing).

    Attributes:
        vector: float32 ``[dimension]``, finite.
    """

    name: ClassVar[str] = "subtract"

    vector: Vector

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``x - vector`` to the graph.

        Raises:
            InputError: the vector's size is not the embedding's.
        """
        check_embedding(x, len(self.vector), "subtract: the vector")
        return op.Sub(x, op.initializer(ir.tensor(self.vector), "vector"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``x - vector``."""
        return x - self.vector
