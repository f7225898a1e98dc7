"""Scale embeddings to length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir

_SHORTEST = 1e-12


class Normalize(Step):
    """Divide by the L2 norm, which is clamped from below, so that a zero vector stays zero.

    Source: sentence-transformers ``Normalize``.
    """

    name: ClassVar[str] = "normalize"

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add ``x / max(|x|, 1e-12)`` to the graph."""
        return op.Div(x, op.Max(op.ReduceL2(x, axes=[-1], keepdims=1), _SHORTEST))

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Compute ``x / max(|x|, 1e-12)``."""
        return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), _SHORTEST)
