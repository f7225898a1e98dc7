"""Remove the directions that all embeddings of a corpus share."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import ValidationInfo, field_validator

from polybake.baking.steps.arrays import Matrix, Vector, check_embedding, check_mean
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise

#: The largest error of a product of two rows; float32 components are exact to about 1e-6.
_ORTHONORMAL = 1e-3


class RemoveComponents(Pointwise):
    """Compute ``c - (c @ components.T) @ components`` with ``c = x - mean``.

    Attributes:
        mean: float32 ``[dimension]``, the mean embedding of a corpus.
        components: float32 ``[count, dimension]``, the top principal components, one a row: of
            length 1 and at right angles, or the product would remove no projection.

    Source: Mu and Viswanath, All-but-the-Top (2018), with the projections of the centred vector.
    """

    name: ClassVar[str] = "remove_components"

    mean: Vector
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
        """Add the formula to the graph.

        Raises:
            InputError: the mean's size is not the embedding's.
        """
        check_embedding(x, len(self.mean), "remove_components: the mean")
        centred = op.Sub(x, op.initializer(ir.tensor(self.mean), "mean"))
        rows = op.initializer(ir.tensor(self.components), "components")
        columns = op.Transpose(rows, perm=[1, 0])
        return op.Sub(centred, op.MatMul(op.MatMul(centred, columns), rows))

    def formula(self, x: Floats) -> Floats:
        """Compute the formula in NumPy."""
        centred = x - self.mean
        return centred - (centred @ self.components.T) @ self.components
