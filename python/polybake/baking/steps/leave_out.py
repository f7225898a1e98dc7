"""Leave tokens out of everything after, as if they were padding."""

from typing import Annotated, ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.arrays import check_tokens
from polybake.baking.steps.state import Arrays, Values
from polybake.baking.steps.step import Step


class LeaveOut(Step):
    """Mask the tokens of some ids, such as the unknown token's.

    Args:
        ids: Token ids, which are int64 in the graph.

    Source: model2vec ``StaticModel.tokenize``.
    """

    name: ClassVar[str] = "leave_out"

    ids: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]

    def build(self, op: OpBuilder, state: Values) -> Values:
        """Add the mask to the graph; the embeddings stay as they are.

        Raises:
            InputError: the embeddings are already pooled.
        """
        check_tokens(state.x, self.name)
        mask = state.attention_mask
        equal = op.Equal(op.Unsqueeze(state.input_ids, axes=[-1]), [*self.ids])
        # ONNX has no maximum of truth values.
        found = op.ReduceMax(op.Cast(equal, to=ir.DataType.INT32), axes=[-1], keepdims=0)
        kept = op.Sub(1, op.Cast(found, to=ir.DataType.INT64))
        return state.becomes(state.x, attention_mask=op.Mul(mask, kept))

    @property
    def changes(self) -> frozenset[str]:
        """The parts of the state that it changes for later steps."""
        return frozenset({"attention_mask"})

    def numpy(self, state: Arrays) -> Arrays:
        """Mask in NumPy."""
        mask = state.attention_mask * ~np.isin(state.input_ids, self.ids)
        return state.becomes(state.x, attention_mask=mask)
