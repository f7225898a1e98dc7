"""Steps that multiply an embedding by a matrix: dense layers, PCA, whitening, All-but-the-Top."""

from typing import ClassVar, Literal, Self

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import ValidationInfo, field_validator, model_validator

from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.steps.arrays import Matrix, Vector, check_embedding, check_mean
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.base.files.validation import choices


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
                f"unknown activation {activation!r}; {choices(activation, ACTIVATIONS)}"
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
        shape = None if self.residual_weight is None else self.residual_weight.shape
        if shape != expected:
            raise ValueError(
                f"residual is {self.residual or 'not given'}, so residual_weight must be "
                f"{_readable(expected)}, found {_readable(shape)}"
            )
        return self

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the layer to the graph."""
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


class TiedDense(Dense):
    """A `Dense` whose weight the graph holds once, as the table that it is equal to.

    Source: transformers ``tie_word_embeddings``.
    """

    def _columns(self, op: OpBuilder, weight: Matrix, name: str) -> ir.Value:
        tables = op.builder.graph.initializers.values()
        table = next((entry for entry in tables if _equal(entry, weight)), None)
        if table is None:
            table = op.initializer(ir.tensor(weight), name)
        columns: ir.Value = op.Transpose(table, perm=[1, 0])
        return columns


def _equal(value: ir.Value, weight: Matrix) -> bool:
    tensor = value.const_value
    return (
        tensor is not None
        and tensor.dtype == ir.DataType.FLOAT
        and tensor.shape.numpy() == weight.shape
        and np.array_equal(tensor.numpy(), weight)
    )


class _Centred(Pointwise):
    """A step on embeddings less the mean of a corpus."""

    mean: Vector

    def _centred(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        check_embedding(x, len(self.mean), f"{self.name}: the mean")
        return op.Sub(x, op.initializer(ir.tensor(self.mean), "mean"))


class Pca(_Centred):
    """Compute ``(x - mean) @ components.T``.

    Attributes:
        mean: float32 ``[in]``, the mean embedding of a corpus.
        components: float32 ``[out, in]``, one component a row, as scikit-learn's
            ``PCA.components_``.
    """

    name: ClassVar[str] = "pca"

    components: Matrix

    @field_validator("components")
    @classmethod
    def _fit_the_mean(cls, components: Matrix, info: ValidationInfo) -> Matrix:
        check_mean(components.shape[1], info)
        return components

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``(x - mean) @ components.T`` to the graph."""
        centred = self._centred(op, x)
        columns = ir.tensor(np.ascontiguousarray(self.components.T))
        return op.MatMul(centred, op.initializer(columns, "components"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``(x - mean) @ components.T``."""
        return (x - self.mean) @ self.components.T


class Whiten(_Centred):
    """Compute ``(x - mean) @ matrix``.

    Attributes:
        mean: float32 ``[in]``, the mean embedding of a corpus.
        matrix: float32 ``[in, out]``; its columns are the covariance's eigenvectors, divided by
            the square roots of their eigenvalues.

    Source: Su et al., Whitening Sentence Representations (2021).
    """

    name: ClassVar[str] = "whiten"

    matrix: Matrix

    @field_validator("matrix")
    @classmethod
    def _fits_the_mean(cls, matrix: Matrix, info: ValidationInfo) -> Matrix:
        check_mean(matrix.shape[0], info)
        return matrix

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``(x - mean) @ matrix`` to the graph."""
        return op.MatMul(self._centred(op, x), op.initializer(ir.tensor(self.matrix), "matrix"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``(x - mean) @ matrix``."""
        return (x - self.mean) @ self.matrix


#: The largest error of a product of two rows; float32 components are exact to about 1e-6.
_ORTHONORMAL = 1e-3


class RemoveComponents(_Centred):
    """Compute ``c - (c @ components.T) @ components`` with ``c = x - mean``.

    Attributes:
        mean: float32 ``[dimension]``, the mean embedding of a corpus.
        components: float32 ``[count, dimension]``, the top principal components, one a row: of
            length 1 and at right angles, or the product would remove no projection.

    Source: Mu and Viswanath, All-but-the-Top (2018), with the projections of the centred vector.
    """

    name: ClassVar[str] = "remove_components"

    components: Matrix

    @field_validator("components")
    @classmethod
    def _are_orthonormal(cls, components: Matrix, info: ValidationInfo) -> Matrix:
        check_mean(components.shape[1], info)
        products = components.astype(np.float64) @ components.T
        if not np.abs(products - np.eye(len(components))).max() <= _ORTHONORMAL:
            raise ValueError(
                f"the {len(components)} rows of {components.shape[1]} elements are not of length 1 "
                "and at right angles; give principal components, one a row"
            )
        return components

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the formula to the graph."""
        centred = self._centred(op, x)
        rows = op.initializer(ir.tensor(self.components), "components")
        columns = op.Transpose(rows, perm=[1, 0])
        return op.Sub(centred, op.MatMul(op.MatMul(centred, columns), rows))

    def formula(self, x: Floats) -> Floats:
        """Compute the formula in NumPy."""
        centred = x - self.mean
        return centred - (centred @ self.components.T) @ self.components
