"""Multiply every embedding by a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Scale(Step):
    """Multiply by ``factor``, such as 127 before a conversion to int8.

    Attributes:
        factor: Finite.
    """

    name: ClassVar[str] = "scale"

    factor: float = Field(strict=True, allow_inf_nan=False)

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add ``x * factor`` to the graph."""
        return op.Mul(x, self.factor)

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Compute ``x * factor``."""
        return x * self.factor
