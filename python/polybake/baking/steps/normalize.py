"""Scale embeddings to length 1."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise

_SHORTEST = 1e-12


class Normalize(Pointwise):
    """Divide by the L2 norm, which is clamped from below, so that a zero vector stays zero.

    Source: sentence-transformers ``Normalize``.
    """

    name: ClassVar[str] = "normalize"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``x / max(|x|, 1e-12)`` to the graph."""
        return op.Div(x, op.Max(op.ReduceL2(x, axes=[-1], keepdims=1), _SHORTEST))

    def formula(self, x: Floats) -> Floats:
        """Compute ``x / max(|x|, 1e-12)``."""
        return x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), _SHORTEST)
