"""Make probabilities of a number for each label."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.steps.state import Floats
from polybake.steps.step import Pointwise


class Softmax(Pointwise):
    """Compute ``exp(x) / sum(exp(x))`` over the last axis.

    Source: transformers ``TextClassificationPipeline``, of a model with one label a text.
    """

    name: ClassVar[str] = "softmax"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the operator to the graph."""
        return op.Softmax(x, axis=-1)

    def formula(self, x: Floats) -> Floats:
        """Compute the formula in NumPy."""
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        probabilities: Floats = powers / powers.sum(axis=-1, keepdims=True)
        return probabilities
