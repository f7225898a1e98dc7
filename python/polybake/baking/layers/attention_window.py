"""How far a token attends: causal attention, sliding windows, and their additive bias."""

from typing import NamedTuple

from onnxscript import OpBuilder, ir

from polybake.baking.layers.attention import SMALLEST, padding_bias
from polybake.baking.layers.positions import distances


class AttentionWindow(NamedTuple):
    """How many tokens before and after itself a token attends to; None is all of them."""

    before: int | None = None
    after: int | None = None


def window_bias(op: OpBuilder, attention_mask: ir.Value, window: AttentionWindow) -> ir.Value:
    """Map int64 ``[batch, sequence]`` to the bias of each token's attention to other tokens.

    Returns:
        float32 that broadcasts to ``[batch, heads, query, key]``: 0 where a token attends, the
        smallest float32 where the other token is masked or outside the window.
    """
    bias = padding_bias(op, attention_mask)
    if window == AttentionWindow():
        return bias
    ahead = distances(op, attention_mask)
    for bound, beyond in ((window.after, ahead), (window.before, op.Neg(ahead))):
        if bound is not None:
            # A minimum, as the sum of two smallest numbers would be -inf.
            bias = op.Min(bias, op.Where(op.Greater(beyond, bound), SMALLEST, 0.0))
    return bias
