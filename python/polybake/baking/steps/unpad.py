"""Keep the embeddings of the tokens that count, text after text."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class Unpad(Step):
    """Turn ``[batch, sequence, size]`` into ``[rows, size]``, and say how many are each text's."""

    name: ClassVar[str] = "unpad"

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the choice to the graph.

        Raises:
            InputError: the embeddings are already pooled.
        """
        size = check_tokens(state.x, self.name)
        counted = op.Reshape(op.Cast(state.attention_mask, to=ir.DataType.BOOL), [-1])
        x: ir.Value = op.Compress(op.Reshape(state.x, [-1, size]), counted, axis=0)
        x.shape = ir.Shape(["rows", size])
        counts = op.ReduceSum(state.attention_mask, axes=[1], keepdims=0)
        return state.becomes(x, counts=counts)

    @property
    def changes(self) -> frozenset[str]:
        """How many rows are each text's."""
        return frozenset({"counts"})

    def numpy(self, state: Arrays) -> Arrays:
        """Choose in NumPy."""
        counted = state.attention_mask.astype(bool)
        return state.becomes(state.x[counted], counts=counted.sum(axis=1).astype(np.int64))
