"""Send embeddings through a linear layer whose weight is the encoder's table of tokens, too."""

from onnxscript import OpBuilder, ir

from polybake.steps.arrays import Matrix
from polybake.steps.dense import Dense


class TiedDense(Dense):
    """A `Dense` that keeps its weight as the table is stored, so that a file holds both once.

    Source: transformers ``tie_word_embeddings``.
    """

    def _columns(self, op: OpBuilder, weight: Matrix, name: str) -> ir.Value:
        transposed: ir.Value = op.Transpose(op.initializer(ir.tensor(weight), name), perm=[1, 0])
        return transposed
