"""Apply an activation function, such as the one that makes scores of a head's numbers."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import field_validator

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise

_FUNCTIONS = ("softmax", *ACTIVATIONS)


class Activation(Pointwise):
    """Apply a function to each element, or with ``softmax`` make probabilities of each row.

    Attributes:
        function: ``softmax``, which is ``exp(x) / sum(exp(x))`` over the last axis, or a name of
            `polybake.layers.ACTIVATIONS`.

    Source: transformers ``TextClassificationPipeline``, sentence-transformers ``CrossEncoder``.
    """

    name: ClassVar[str] = "activation"

    function: str

    @field_validator("function")
    @classmethod
    def _is_known(cls, function: str) -> str:
        if function not in _FUNCTIONS:
            raise ValueError(
                f"unknown function {function!r}; choose one of: {', '.join(_FUNCTIONS)}"
            )
        return function

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the operators to the graph."""
        if self.function == "softmax":
            return op.Softmax(x, axis=-1)
        return ACTIVATIONS[self.function].build(op, x)

    def formula(self, x: Floats) -> Floats:
        """Compute the same in NumPy."""
        if self.function != "softmax":
            return ACTIVATIONS[self.function].numpy(x)
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        probabilities: Floats = powers / powers.sum(axis=-1, keepdims=True)
        return probabilities
