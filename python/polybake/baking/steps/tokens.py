"""Steps that leave tokens out as if they were padding, and one that takes the padding away."""

from typing import Annotated, ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class LeaveOut(Step):
    """Mask the tokens of some ids, such as the unknown token's.

    Source: model2vec ``StaticModel.tokenize``.
    """

    name: ClassVar[str] = "leave_out"

    ids: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the mask to the graph; the embeddings stay as they are."""
        check_tokens(state.x, self.name)
        mask = state.attention_mask
        equal = op.Equal(op.Unsqueeze(state.input_ids, axes=[-1]), [*self.ids])
        # ONNX has no maximum of truth values.
        match = op.ReduceMax(op.Cast(equal, to=ir.DataType.INT32), axes=[-1], keepdims=0)
        rest = op.Sub(1, op.Cast(match, to=ir.DataType.INT64))
        return state.becomes(state.x, attention_mask=op.Mul(mask, rest))

    @property
    def changes(self) -> frozenset[str]:
        """The parts of the state that it changes for later steps."""
        return frozenset({"attention_mask"})

    def numpy(self, state: Arrays) -> Arrays:
        """Mask in NumPy."""
        mask = state.attention_mask * ~np.isin(state.input_ids, self.ids)
        return state.becomes(state.x, attention_mask=mask)


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
        """Add the mask to the graph; the embeddings stay as they are."""
        check_tokens(state.x, self.name)
        mask = state.attention_mask
        position = op.CumSum(mask, 1)
        behind = op.Sub(op.ReduceSum(mask, axes=[1], keepdims=1), self.last - 1)
        inner = op.And(op.Greater(position, self.first), op.Less(position, behind))
        rest = op.Mul(mask, op.Cast(inner, to=ir.DataType.INT64))
        return state.becomes(state.x, attention_mask=rest)

    @property
    def changes(self) -> frozenset[str]:
        """The parts of the state that it changes for later steps."""
        return frozenset({"attention_mask"})

    def numpy(self, state: Arrays) -> Arrays:
        """Mask in NumPy."""
        mask = state.attention_mask
        position = mask.cumsum(axis=1)
        inner = (position > self.first) & (position <= mask.sum(axis=1, keepdims=True) - self.last)
        rest: np.ndarray = mask * inner
        return state.becomes(state.x, attention_mask=rest)


class Unpad(Step):
    """Turn ``[batch, sequence, size]`` into ``[rows, size]``, and say how many are each text's."""

    name: ClassVar[str] = "unpad"

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the choice to the graph."""
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
        """Apply the step to NumPy arrays; return the next state."""
        counted = state.attention_mask.astype(bool)
        return state.becomes(state.x[counted], counts=counted.sum(axis=1).astype(np.int64))
