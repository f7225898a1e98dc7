"""Express embeddings by their principal components."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import ValidationInfo, field_validator

from polybake.baking.steps.arrays import Matrix, Vector, check_embedding, check_mean
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Pca(Pointwise):
    """Compute ``(x - mean) @ components.T``.

    Attributes:
        mean: float32 ``[in]``, the mean embedding of a corpus.
        components: float32 ``[out, in]``, one component a row, as scikit-learn's
            ``PCA.components_``.
    """

    name: ClassVar[str] = "pca"

    mean: Vector
    components: Matrix

    @field_validator("components")
    @classmethod
    def _fit_the_mean(cls, components: Matrix, info: ValidationInfo) -> Matrix:
        check_mean(components.shape[1], info)
        return components

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``(x - mean) @ components.T`` to the graph.

        Raises:
            InputError: the mean's size is not the embedding's.
        """
        check_embedding(x, len(self.mean), "pca: the mean")
        centred = op.Sub(x, op.initializer(ir.tensor(self.mean), "mean"))
        columns = ir.tensor(np.ascontiguousarray(self.components.T))
        return op.MatMul(centred, op.initializer(columns, "components"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``(x - mean) @ components.T``."""
        return (x - self.mean) @ self.components.T
