"""Send embeddings through a linear layer whose weight is the encoder's table of tokens, too."""

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import Matrix
from polybake.baking.steps.dense import Dense


class TiedDense(Dense):
    """A `Dense` whose weight the graph holds once, as the table that it is equal to.

    Source: transformers ``tie_word_embeddings``.
    """

    def _columns(self, op: OpBuilder, weight: Matrix, name: str) -> ir.Value:
        tables = op.builder.graph.initializers.values()
        table = next((one for one in tables if _equal(one, weight)), None)
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
