"""Multiply every embedding by a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from polybake.steps.step import Floats, Mask, Step

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Scale(Step):
    """Multiply by ``factor``, such as 127 before a conversion to int8.

    Attributes:
        factor: Finite.
    """

    name: ClassVar[str] = "scale"

    factor: float = Field(strict=True, allow_inf_nan=False)

    def build(self, op: OpBuilder, x: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Add ``x * factor`` to the graph."""
        return op.Mul(x, self.factor)

    def numpy(self, x: Floats, attention_mask: Mask) -> Floats:
        """Compute ``x * factor``."""
        return x * self.factor
