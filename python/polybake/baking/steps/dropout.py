"""Dropout, which takes part in training only."""

from typing import ClassVar

from onnxscript import OpBuilder, ir

from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Dropout(Pointwise):
    """Leave embeddings as they are; the step keeps the place of the source's module.

    Source: sentence-transformers ``Dropout`` in evaluation.
    """

    name: ClassVar[str] = "dropout"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add nothing to the graph."""
        return x

    def formula(self, x: Floats) -> Floats:
        """Return ``x``."""
        return x

    def __str__(self) -> str:
        """Say that nothing is computed."""
        return "dropout(no-op)"
