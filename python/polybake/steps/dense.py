"""Send embeddings through one linear layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from polybake.activations import ACTIVATIONS
from polybake.errors import InputError
from polybake.steps.step import Floats, Mask, Step

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Dense(Step):
    """Compute ``activation(x @ weight.T + bias)`` over the last axis.

    Attributes:
        weight: float32 ``[out, in]``, as PyTorch stores a linear layer.
        bias: float32 ``[out]``, or None.
        activation: a name of `polybake.activations.ACTIVATIONS`.

    Source: sentence-transformers ``Dense``.
    """

    name: ClassVar[str] = "dense"

    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None = None
    activation: str = "tanh"

    @field_validator("activation")
    @classmethod
    def _is_known(cls, activation: str) -> str:
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"unknown activation {activation!r}; choose one of: {', '.join(ACTIVATIONS)}"
            )
        return activation

    @model_validator(mode="after")
    def _shapes_agree(self) -> Dense:
        if self.weight.ndim != 2:
            raise ValueError(f"weight must be [out, in], found shape {list(self.weight.shape)}")
        if self.bias is not None and self.bias.shape != self.weight.shape[:1]:
            raise ValueError(
                f"bias has shape {list(self.bias.shape)}, expected [{len(self.weight)}]"
            )
        return self

    def build(self, op: OpBuilder, x: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Add the layer to the graph.

        Raises:
            InputError: the weight's input size is not the embedding's.
        """
        from onnxscript import ir

        found = x.shape[-1] if x.shape is not None else None
        if found != self.weight.shape[1]:
            raise InputError(
                f"dense: the weight takes {self.weight.shape[1]} elements and the embedding has "
                f"{found}; give the Dense module that belongs to this encoder"
            )
        transposed = ir.tensor(np.ascontiguousarray(self.weight.T))
        y = op.MatMul(x, op.initializer(transposed, "weight"))
        if self.bias is not None:
            y = op.Add(y, op.initializer(ir.tensor(self.bias), "bias"))
        return ACTIVATIONS[self.activation].build(op, y)

    def numpy(self, x: Floats, attention_mask: Mask) -> Floats:
        """Compute the layer in NumPy."""
        y = x @ self.weight.T
        if self.bias is not None:
            y = y + self.bias
        return ACTIVATIONS[self.activation].numpy(y)
