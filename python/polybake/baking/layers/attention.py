"""Scaled dot-product attention, and the additive bias that masks tokens in it."""

import math
from typing import NamedTuple

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.layers.positions import distances

#: The value of a masked score: its softmax is 0, but a row of only such scores is not NaN.
SMALLEST = float(np.finfo(np.float32).min)


def padding_bias(op: OpBuilder, attention_mask: ir.Value) -> ir.Value:
    """Map int64 ``[batch, sequence]`` to float32 ``[batch, 1, 1, sequence]``.

    The bias is 0 for kept tokens and the smallest float32 for masked tokens. With this order of
    operators ONNX Runtime's offline optimizer recognises the attention behind it.

    Source: onnxruntime ``fusion_attention.py``.
    """
    op.builder.push_module("padding_bias", "PaddingBias")
    mask = op.Unsqueeze(op.Unsqueeze(attention_mask, axes=[1]), axes=[2])
    masked = op.Sub(1.0, op.Cast(mask, to=ir.DataType.FLOAT))
    bias = op.Mul(masked, SMALLEST)
    op.builder.pop_module()
    return bias


class AttentionWindow(NamedTuple):
    """How many tokens before and after itself a token attends to; None is all of them."""

    before: int | None = None
    after: int | None = None


def window_bias(op: OpBuilder, attention_mask: ir.Value, window: AttentionWindow) -> ir.Value:
    """Map int64 ``[batch, sequence]`` to float32 that broadcasts to ``[batch, heads, query, key]``.

    It is 0 where a token attends, and the smallest float32 where the other token is masked or
    outside the window.
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


def split_heads(op: OpBuilder, x: ir.Value, heads: int, head_size: int) -> ir.Value:
    """Map float32 ``[batch, sequence, hidden]`` to ``[batch, heads, sequence, head_size]``."""
    return op.Transpose(op.Reshape(x, [0, 0, heads, head_size]), perm=[0, 2, 1, 3])


def merge_heads(op: OpBuilder, x: ir.Value, heads: int, head_size: int) -> ir.Value:
    """Undo `split_heads`."""
    return op.Reshape(op.Transpose(x, perm=[0, 2, 1, 3]), [0, 0, heads * head_size])


def attend(
    op: OpBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    bias: ir.Value,
    *,
    heads: int,
    head_size: int,
    key_value_heads: int | None = None,
    scale: float | None = None,
) -> ir.Value:
    """Mix the values of the tokens that each token attends to.

    Args:
        op: The builder.
        query: float32 ``[batch, heads, sequence, head_size]``.
        key: float32 ``[batch, key_value_heads, sequence, head_size]``.
        value: The same shape as ``key``.
        bias: Added to the scores; float32 that broadcasts to ``[batch, heads, query, key]``. Masks
            and position biases are summed into it.
        heads: The number of query heads.
        head_size: The number of elements of a head.
        key_value_heads: The number of key and value heads, a divisor of ``heads``; consecutive
            query heads share a head. None: each query head has its own.
        scale: The factor of the scores; None: ``1 / sqrt(head_size)``.

    Returns:
        float32 ``[batch, sequence, heads * head_size]``.
    """
    op.builder.push_module("attention", "Attention")
    if key_value_heads is not None and key_value_heads != heads:
        key, value = (_repeat(op, x, heads, head_size, key_value_heads) for x in (key, value))
    scores = op.MatMul(query, op.Transpose(key, perm=[0, 1, 3, 2]))
    if scale is None:
        scores = op.Div(scores, math.sqrt(head_size))
    elif scale != 1.0:
        scores = op.Mul(scores, scale)
    attention = op.Softmax(op.Add(scores, bias), axis=-1)
    mixed = merge_heads(op, op.MatMul(attention, value), heads, head_size)
    op.builder.pop_module()
    return mixed


def _repeat(
    op: OpBuilder, x: ir.Value, heads: int, head_size: int, key_value_heads: int
) -> ir.Value:
    """Give each query head its key or value head: ``[batch, heads, sequence, head_size]``."""
    repeats = heads // key_value_heads
    grouped = op.Expand(op.Unsqueeze(x, axes=[2]), [1, 1, repeats, 1, 1])
    return op.Reshape(grouped, [0, heads, -1, head_size])
