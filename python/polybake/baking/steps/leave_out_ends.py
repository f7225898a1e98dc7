"""Leave the first and the last tokens of each text out, such as its special tokens."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class LeaveOutEnds(Step):
    """Mask tokens by their place among those that count.

    Attributes:
        first: How many are left out at the beginning.
        last: How many at the end.
    """

    name: ClassVar[str] = "leave_out_ends"

    first: int = Field(default=0, ge=0, strict=True)
    last: int = Field(default=0, ge=0, strict=True)

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the mask to the graph; the embeddings stay as they are.

        Raises:
            InputError: the embeddings are already pooled.
        """
        check_tokens(state.x, self.name)
        mask = state.attention_mask
        place = op.CumSum(mask, 1)
        behind = op.Sub(op.ReduceSum(mask, axes=[1], keepdims=1), self.last - 1)
        inner = op.And(op.Greater(place, self.first), op.Less(place, behind))
        kept = op.Mul(mask, op.Cast(inner, to=ir.DataType.INT64))
        return state.becomes(state.x, attention_mask=kept)

    @property
    def changes(self) -> frozenset[str]:
        """The parts of the state that it changes for later steps."""
        return frozenset({"attention_mask"})

    def numpy(self, state: Arrays) -> Arrays:
        """Mask in NumPy."""
        mask = state.attention_mask
        place = mask.cumsum(axis=1)
        inner = (place > self.first) & (place <= mask.sum(axis=1, keepdims=True) - self.last)
        kept: np.ndarray = mask * inner
        return state.becomes(state.x, attention_mask=kept)
