"""Leave tokens out of everything after, as if they were padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field

from polybake.steps.arrays import check_tokens
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class LeaveOut(Step):
    """Mask the tokens of some ids, such as the unknown token's.

    Args:
        ids: Token ids, which are int64 in the graph.

    Source: model2vec ``StaticModel.tokenize``.
    """

    name: ClassVar[str] = "leave_out"

    ids: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**63)], ...], Field(min_length=1)]

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add the mask to the graph; ``x`` stays as it is.

        Raises:
            InputError: ``x`` is already pooled.
        """
        check_tokens(x, self.name)
        for token_id in self.ids:
            other = op.Not(op.Equal(tokens.input_ids, token_id))
            kept = op.Cast(other, to=tokens.attention_mask.dtype)
            tokens.attention_mask = op.Mul(tokens.attention_mask, kept)
        return x

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Mask in NumPy."""
        tokens.attention_mask = tokens.attention_mask * ~np.isin(tokens.input_ids, self.ids)
        return x
