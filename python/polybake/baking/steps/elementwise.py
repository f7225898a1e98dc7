"""Steps that keep the size: normalize, scale, subtract, layer_norm, activation, dropout."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field, ValidationInfo, field_validator

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.steps.arrays import Vector, check_embedding
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.base.files.validation import choices

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


class Scale(Pointwise):
    """Multiply by ``factor``, such as 127 before a conversion to int8.

    Attributes:
        factor: Finite.
    """

    name: ClassVar[str] = "scale"

    factor: float = Field(strict=True, allow_inf_nan=False)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``x * factor`` to the graph."""
        return op.Mul(x, self.factor)

    def formula(self, x: Floats) -> Floats:
        """Compute ``x * factor``."""
        return x * self.factor


class Subtract(Pointwise):
    """Subtract ``vector``, such as the mean embedding of a corpus (mean debiasing).

    Attributes:
        vector: float32 ``[dimension]``, finite.
    """

    name: ClassVar[str] = "subtract"

    vector: Vector

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``x - vector`` to the graph."""
        check_embedding(x, len(self.vector), "subtract: the vector")
        return op.Sub(x, op.initializer(ir.tensor(self.vector), "vector"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``x - vector``."""
        return x - self.vector


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
        """Add the formula to the graph; ONNX has an operator for it only from opset 17 on."""
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
            raise ValueError(f"unknown function {function!r}; {choices(function, _FUNCTIONS)}")
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


class Dropout(Pointwise):
    """Leave embeddings as they are; the step keeps the place of the source's module.

    Source: sentence-transformers ``Dropout`` in evaluation.
    """

    name: ClassVar[str] = "dropout"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add nothing to the graph."""
        return x

    def formula(self, x: Floats) -> Floats:
        """Return ``x``."""
        return x

    def __str__(self) -> str:
        """Say that nothing is computed."""
        return "dropout(no-op)"
