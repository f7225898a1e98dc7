"""A bag of words: which words of the vocabulary occur, times their weights.

Source: sentence-transformers ``SparseStaticEmbedding``.
"""

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir, nn


class BagOfWords(nn.Module):
    """A vector with an element for each word."""

    def __init__(
        self,
        weights: NDArray[np.float32],
        uncounted: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__()
        self.weights = nn.Parameter(weights.shape, data=ir.tensor(weights))
        self.uncounted = uncounted

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, words]``."""
        words = self.weights.shape[0]  # type: ignore[index] # known
        zeros = op.Expand(0.0, op.Concat(op.Shape(input_ids, start=0, end=1), [words], axis=0))
        mask = op.Cast(attention_mask, to=ir.DataType.FLOAT)
        if any(self.uncounted):
            before, behind = self.uncounted
            position = op.CumSum(mask, 1)
            rest = op.Sub(op.ReduceSum(mask, axes=[1], keepdims=1), position)
            counted = op.And(
                op.Greater(position, float(before)), op.GreaterOrEqual(rest, float(behind))
            )
            mask = op.Mul(mask, op.Cast(counted, to=ir.DataType.FLOAT))
        counts = op.ScatterElements(zeros, input_ids, mask, axis=1, reduction="add")
        vectors: ir.Value = op.Mul(op.Min(counts, 1.0), self.weights)
        vectors.shape = ir.Shape(["batch", words])
        return vectors
