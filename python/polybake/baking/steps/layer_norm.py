"""Normalise each embedding to mean 0 and variance 1."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field, ValidationInfo, field_validator

from polybake.baking.steps.arrays import Vector, check_embedding
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class LayerNorm(Pointwise):
    """Compute ``(x - mean) / sqrt(variance + eps) * weight + bias`` over the last axis.

    Mean and variance are those of the one embedding; the variance divides by its elements.

    Attributes:
        weight: float32 ``[dimension]``, or None, which does not scale.
        bias: float32 ``[dimension]``, or None, which does not shift.
        eps: Keeps an embedding of equal elements finite.

    Source: sentence-transformers ``LayerNorm``; without weight and bias, PyTorch ``layer_norm``,
    as Matryoshka models have it before they are cut.
    """

    name: ClassVar[str] = "layer_norm"

    weight: Vector | None = None
    bias: Vector | None = None
    eps: float = Field(default=1e-5, gt=0, strict=True, allow_inf_nan=False)

    @field_validator("bias")
    @classmethod
    def _fits_the_weight(cls, bias: Vector | None, info: ValidationInfo) -> Vector | None:
        weight = info.data.get("weight")
        if bias is not None and weight is not None and len(bias) != len(weight):
            raise ValueError(
                f"has {len(bias)} elements and the weight {len(weight)}; give both of one layer"
            )
        return bias

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the formula to the graph; ONNX has an operator for it only from opset 17 on.

        Raises:
            InputError: the size of weight or bias is not the embedding's.
        """
        centred = op.Sub(x, op.ReduceMean(x, axes=[-1], keepdims=1))
        variance = op.ReduceMean(op.Mul(centred, centred), axes=[-1], keepdims=1)
        y = op.Div(centred, op.Sqrt(op.Add(variance, self.eps)))
        if self.weight is not None:
            check_embedding(x, len(self.weight), "layer_norm: the weight")
            y = op.Mul(y, op.initializer(ir.tensor(self.weight), "weight"))
        if self.bias is not None:
            check_embedding(x, len(self.bias), "layer_norm: the bias")
            y = op.Add(y, op.initializer(ir.tensor(self.bias), "bias"))
        return y

    def formula(self, x: Floats) -> Floats:
        """Compute the formula in NumPy."""
        y = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + self.eps)
        if self.weight is not None:
            y = y * self.weight
        if self.bias is not None:
            y = y + self.bias
        return y
