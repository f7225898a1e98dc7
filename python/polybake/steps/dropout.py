"""Dropout, which takes part in training only."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Dropout(Step):
    """Leave embeddings as they are; the step keeps the place of the source's module.

    Source: sentence-transformers ``Dropout`` in evaluation.
    """

    name: ClassVar[str] = "dropout"

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add nothing to the graph."""
        return x

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Return ``x``."""
        return x

    def __str__(self) -> str:
        """Say that nothing is computed."""
        return "dropout(no-op)"
