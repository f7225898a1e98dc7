"""Make weights of the vocabulary's tokens from a masked language model's predictions."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class Splade(Step):
    """Pool ``log(1 + relu(x))`` of every token: ``[batch, sequence, size]`` to ``[batch, size]``.

    Attributes:
        pooling: ``max``, the largest over the tokens, or ``sum``.
        activation: ``relu``, or ``log1p_relu``, which takes the logarithm twice.

    Source: sentence-transformers ``SpladePooling``.
    """

    name: ClassVar[str] = "splade"

    pooling: Literal["max", "sum"] = "max"
    activation: Literal["relu", "log1p_relu"] = "relu"

    @property
    def pools(self) -> bool:
        """True."""
        return True

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the pooling; the maximum comes first, as weights rise with the numbers."""
        check_tokens(state.x, self.name)
        mask = op.Unsqueeze(op.Cast(state.attention_mask, to=state.x.dtype), axes=[-1])
        masked = op.Mul(state.x, mask)
        if self.pooling == "max":
            return state.becomes(self._weights(op, op.ReduceMax(masked, axes=[1], keepdims=0)))
        return state.becomes(op.ReduceSum(self._weights(op, masked), axes=[1], keepdims=0))

    def _weights(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        x = op.Relu(x)
        for _ in range(self._logarithms):
            x = op.Log(op.Add(x, 1.0))
        return x

    def numpy(self, state: Arrays) -> Arrays:
        """Pool in NumPy."""
        weights = np.maximum(state.x * state.attention_mask[:, :, np.newaxis], 0.0)
        for _ in range(self._logarithms):
            weights = np.log1p(weights)
        pool: Callable[..., NDArray[Any]] = np.max if self.pooling == "max" else np.sum
        return state.becomes(pool(weights, axis=1))

    @property
    def _logarithms(self) -> int:
        return 2 if self.activation == "log1p_relu" else 1
