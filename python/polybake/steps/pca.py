"""Express embeddings by their principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import ValidationInfo, field_validator

from polybake.steps.arrays import Matrix, Vector, check_embedding, check_mean
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Pca(Step):
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

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add ``(x - mean) @ components.T`` to the graph.

        Raises:
            InputError: the mean's size is not the embedding's.
        """
        from onnxscript import ir

        check_embedding(x, len(self.mean), "pca: the mean")
        centred = op.Sub(x, op.initializer(ir.tensor(self.mean), "mean"))
        columns = ir.tensor(np.ascontiguousarray(self.components.T))
        return op.MatMul(centred, op.initializer(columns, "components"))

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Compute ``(x - mean) @ components.T``."""
        return (x - self.mean) @ self.components.T
