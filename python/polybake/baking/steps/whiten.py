"""Map embeddings to uncorrelated elements of equal variance."""

from typing import ClassVar

from onnxscript import OpBuilder, ir
from pydantic import ValidationInfo, field_validator

from polybake.baking.steps.arrays import Matrix, Vector, check_embedding, check_mean
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise


class Whiten(Pointwise):
    """Compute ``(x - mean) @ matrix``.

    Attributes:
        mean: float32 ``[in]``, the mean embedding of a corpus.
        matrix: float32 ``[in, out]``; its columns are the covariance's eigenvectors, divided by
            the square roots of their eigenvalues.

    Source: Su et al., Whitening Sentence Representations (2021).
    """

    name: ClassVar[str] = "whiten"

    mean: Vector
    matrix: Matrix

    @field_validator("matrix")
    @classmethod
    def _fits_the_mean(cls, matrix: Matrix, info: ValidationInfo) -> Matrix:
        check_mean(matrix.shape[0], info)
        return matrix

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add ``(x - mean) @ matrix`` to the graph.

        Raises:
            InputError: the mean's size is not the embedding's.
        """
        check_embedding(x, len(self.mean), "whiten: the mean")
        centred = op.Sub(x, op.initializer(ir.tensor(self.mean), "mean"))
        return op.MatMul(centred, op.initializer(ir.tensor(self.matrix), "matrix"))

    def formula(self, x: Floats) -> Floats:
        """Compute ``(x - mean) @ matrix``."""
        return (x - self.mean) @ self.matrix
