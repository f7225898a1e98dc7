"""A bag of words: how often each word of the vocabulary occurs, times its weight.

Source: sentence-transformers ``BoW``.
"""

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir, nn


class BagOfWords(nn.Module):
    """One element for each word.

    Args:
        weights: float32 ``[words]``.
        cumulative: Whether a word counts each time; else once a text.
    """

    def __init__(self, weights: NDArray[np.float32], *, cumulative: bool) -> None:
        super().__init__()
        self.weights = nn.Parameter(weights.shape, data=ir.tensor(weights))
        self.cumulative = cumulative

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, words]``."""
        words = self.weights.shape[0]  # type: ignore[index] # known
        zeros = op.Expand(0.0, op.Concat(op.Shape(input_ids, start=0, end=1), [words], axis=0))
        seen = op.Cast(attention_mask, to=ir.DataType.FLOAT)
        counts = op.ScatterElements(zeros, input_ids, seen, axis=1, reduction="add")
        if not self.cumulative:
            counts = op.Min(counts, 1.0)
        vectors: ir.Value = op.Mul(counts, self.weights)
        vectors.shape = ir.Shape(["batch", words])
        return vectors
