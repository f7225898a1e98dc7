"""Send embeddings through one linear layer."""

from typing import ClassVar, Literal, Self

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import ValidationInfo, field_validator, model_validator

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.steps.arrays import Matrix, Vector, check_embedding
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Dense(Pointwise):
    """Compute ``activation(x @ weight.T + bias)``, plus a residual, over the last axis.

    Attributes:
        weight: float32 ``[out, in]``, as PyTorch stores a linear layer.
        bias: float32 ``[out]``, or None.
        activation: A name of `polybake.layers.ACTIVATIONS`.
        residual: What is added after the activation: ``identity`` is ``x`` itself,
            ``projection`` is ``x @ residual_weight.T``, and None is nothing.
        residual_weight: float32 ``[out, in]``, with ``projection`` only.

    Source: sentence-transformers ``Dense``, whose ``use_residual`` is the identity where both
    sizes agree and a projection elsewhere.
    """

    name: ClassVar[str] = "dense"

    weight: Matrix
    bias: Vector | None = None
    activation: str = "tanh"
    residual: Literal["identity", "projection"] | None = None
    residual_weight: Matrix | None = None

    @field_validator("bias")
    @classmethod
    def _fits_the_weight(cls, bias: Vector | None, info: ValidationInfo) -> Vector | None:
        weight = info.data.get("weight")
        if bias is not None and weight is not None and len(bias) != len(weight):
            raise ValueError(
                f"has {len(bias)} elements and the weight gives {len(weight)}; "
                "give both of one layer"
            )
        return bias

    @field_validator("activation")
    @classmethod
    def _is_known(cls, activation: str) -> str:
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"unknown activation {activation!r}; choose one of: {', '.join(ACTIVATIONS)}"
            )
        return activation

    @model_validator(mode="after")
    def _residual_fits(self) -> Self:
        outputs, inputs = self.weight.shape
        if self.residual == "identity" and outputs != inputs:
            raise ValueError(
                f"residual is identity and the weight makes {outputs} elements of {inputs}; "
                "give residual = 'projection' and its residual_weight"
            )
        expected = self.weight.shape if self.residual == "projection" else None
        found = None if self.residual_weight is None else self.residual_weight.shape
        if found != expected:
            raise ValueError(
                f"residual is {self.residual or 'not given'}, so residual_weight must be "
                f"{_readable(expected)}, found {_readable(found)}"
            )
        return self

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the layer to the graph.

        Raises:
            InputError: the weight's input size is not the embedding's.
        """
        check_embedding(x, self.weight.shape[1], "dense: the weight")
        y = op.MatMul(x, self._columns(op, self.weight, "weight"))
        if self.bias is not None:
            y = op.Add(y, op.initializer(ir.tensor(self.bias), "bias"))
        y = ACTIVATIONS[self.activation].build(op, y)
        if self.residual is None:
            return y
        if self.residual_weight is None:
            return op.Add(y, x)
        columns = self._columns(op, self.residual_weight, "residual_weight")
        return op.Add(y, op.MatMul(x, columns))

    def _columns(self, op: OpBuilder, weight: Matrix, name: str) -> ir.Value:
        """The transpose as it is stored, so that the graph holds no Transpose."""
        return op.initializer(ir.tensor(np.ascontiguousarray(weight.T)), name)

    def formula(self, x: Floats) -> Floats:
        """Compute the layer in NumPy."""
        y: Floats = x @ self.weight.T
        if self.bias is not None:
            y = y + self.bias
        y = ACTIVATIONS[self.activation].numpy(y)
        if self.residual is None:
            return y
        return y + (x if self.residual_weight is None else x @ self.residual_weight.T)


def _readable(shape: tuple[int, ...] | None) -> str:
    return "absent" if shape is None else str(list(shape))
