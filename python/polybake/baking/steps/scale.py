"""Multiply every embedding by a number."""

from typing import ClassVar

from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Scale(Pointwise):
    """Multiply by ``factor``, such as 127 before a conversion to int8.

    Attributes:
        factor: Finite.
    """

    name: ClassVar[str] = "scale"

    factor: float = Field(strict=True, allow_inf_nan=False)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``x * factor`` to the graph."""
        return op.Mul(x, self.factor)

    def formula(self, x: Floats) -> Floats:
        """Compute ``x * factor``."""
        return x * self.factor
