"""Make one embedding of a text's token embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from polybake.errors import InputError
from polybake.steps.step import Floats, Mask, Step

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir

_FEWEST_TOKENS = 1e-9


class Pool(Step):
    """Pool ``[batch, sequence, hidden]`` to ``[batch, hidden]``.

    Source: sentence-transformers ``Pooling``.
    """

    name: ClassVar[str] = "pool"

    mode: Literal["mean"]

    def build(self, op: OpBuilder, x: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Add the pooling to the graph.

        Raises:
            InputError: ``x`` is already pooled.
        """
        if x.shape is None or len(x.shape) != 3:
            raise InputError(
                f"pool needs token embeddings [batch, sequence, hidden], and {x.name!r} is "
                f"{x.shape}, one vector a text already; drop the pool step"
            )
        return _mean(op, x, attention_mask)

    def numpy(self, x: Floats, attention_mask: Mask) -> Floats:
        """Average in NumPy; zeros where the mask is all 0."""
        kept = attention_mask[:, :, np.newaxis]
        return (x * kept).sum(axis=1) / np.maximum(kept.sum(axis=1), _FEWEST_TOKENS)


def _mean(op: OpBuilder, token_embeddings: ir.Value, attention_mask: ir.Value) -> ir.Value:
    """Average the token embeddings that the attention mask keeps.

    Args:
        op: The builder of the graph.
        token_embeddings: float32 ``[batch, sequence, hidden]``.
        attention_mask: int64 ``[batch, sequence]``; 1 keeps a token.

    Returns:
        float32 ``[batch, hidden]``; zeros where the mask is all 0.

    Source: sentence-transformers ``Pooling``, mode ``mean``.
    """
    kept = op.Unsqueeze(op.Cast(attention_mask, to=token_embeddings.dtype), axes=[-1])
    total = op.ReduceSum(op.Mul(token_embeddings, kept), axes=[1], keepdims=0)
    count = op.ReduceSum(kept, axes=[1], keepdims=0)
    return op.Div(total, op.Max(count, _FEWEST_TOKENS))
