"""The modes that make one vector of a text's token embeddings: nodes beside the same formula.

Nothing here needs ONNX before a graph is made, so that a diagnosis begins without it.

Source: sentence-transformers ``Pooling``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir

Floats = NDArray[np.floating[Any]]

#: The least that a sum is divided by, so that a row without tokens is zeros.
_SMALLEST = 1e-9


@dataclass(frozen=True)
class PoolingMode:
    """One mode, as ONNX operators and in NumPy.

    Both take ``x``, float ``[batch, sequence, hidden]``, and two masks, float ``[batch,
    sequence]``: ``tokens`` is 1 at a token of the text and 0 at padding; ``kept`` is 1 at a token
    that is pooled. They give float ``[batch, hidden]``: zeros for a row without any token.
    """

    nodes: Callable[[OpBuilder, ir.Value, ir.Value, ir.Value], ir.Value]
    formula: Callable[[Floats, Floats, Floats], Floats]


def _first(op: OpBuilder, x: ir.Value, tokens: ir.Value, mask: ir.Value) -> ir.Value:
    """Take the first kept token, or the text's first one where none is kept."""
    return _row(op, x, tokens, op.ArgMax(op.Add(tokens, mask), axis=1, keepdims=1))


def _first_formula(x: Floats, tokens: Floats, mask: Floats) -> Floats:
    return _row_formula(x, tokens, np.argmax(tokens + mask, axis=1))


def _last(op: OpBuilder, x: ir.Value, _: ir.Value, mask: ir.Value) -> ir.Value:
    """Take the token at which the running count of kept tokens first reaches its end."""
    return _row(op, x, mask, op.ArgMax(op.CumSum(mask, 1), axis=1, keepdims=1))


def _last_formula(x: Floats, _: Floats, mask: Floats) -> Floats:
    return _row_formula(x, mask, np.argmax(np.cumsum(mask, axis=1), axis=1))


def _max(op: OpBuilder, x: ir.Value, _: ir.Value, mask: ir.Value) -> ir.Value:
    """Take the largest of each element over the kept tokens, and 0 where none is kept.

    sentence-transformers gives -inf there, which has no similarity to anything.
    """
    is_kept = op.Greater(op.Unsqueeze(mask, axes=[-1]), 0.0)
    largest = op.ReduceMax(op.Where(is_kept, x, -np.inf), axes=[1], keepdims=0)
    any_kept = op.Greater(op.ReduceMax(mask, axes=[1], keepdims=1), 0.0)
    return op.Where(any_kept, largest, 0.0)


def _max_formula(x: Floats, _: Floats, mask: Floats) -> Floats:
    largest = np.where(mask[:, :, np.newaxis] > 0, x, -np.inf).max(axis=1)
    return np.where(mask.any(axis=1, keepdims=True), largest, 0.0)


def _mean(op: OpBuilder, x: ir.Value, _: ir.Value, mask: ir.Value) -> ir.Value:
    """Divide the sum of the kept tokens by their number."""
    return op.Div(*_sums(op, x, mask))


def _mean_formula(x: Floats, _: Floats, mask: Floats) -> Floats:
    total, count = _sums_formula(x, mask)
    return total / count


def _mean_sqrt(op: OpBuilder, x: ir.Value, _: ir.Value, mask: ir.Value) -> ir.Value:
    """Divide the sum of the kept tokens by the square root of their number."""
    total, count = _sums(op, x, mask)
    return op.Div(total, op.Sqrt(count))


def _mean_sqrt_formula(x: Floats, _: Floats, mask: Floats) -> Floats:
    total, count = _sums_formula(x, mask)
    return total / np.sqrt(count)


def _weighted_mean(op: OpBuilder, x: ir.Value, tokens: ir.Value, mask: ir.Value) -> ir.Value:
    """Weight each kept token by its position 1, 2, … n in the whole text."""
    return op.Div(*_sums(op, x, op.Mul(mask, op.CumSum(tokens, 1))))


def _weighted_mean_formula(x: Floats, tokens: Floats, mask: Floats) -> Floats:
    total, weight = _sums_formula(x, mask * np.cumsum(tokens, axis=1))
    return total / weight


#: The modes by sentence-transformers' names.
POOLING_MODES = {
    "cls": PoolingMode(_first, _first_formula),
    "max": PoolingMode(_max, _max_formula),
    "mean": PoolingMode(_mean, _mean_formula),
    "mean_sqrt_len_tokens": PoolingMode(_mean_sqrt, _mean_sqrt_formula),
    "weightedmean": PoolingMode(_weighted_mean, _weighted_mean_formula),
    "lasttoken": PoolingMode(_last, _last_formula),
}


def choose_row(op: OpBuilder, x: ir.Value, index: ir.Value) -> ir.Value:
    """Map ``[batch, rows, size]`` to its rows at int64 ``[batch, 1]``: ``[batch, size]``.

    ``GatherND`` would say it shorter, but cannot in opset 11.
    """
    size = x.shape[-1]  # type: ignore[index]  # the caller has looked at the shape
    elements = op.Expand(op.Unsqueeze(index, axes=[-1]), [1, 1, size])
    return op.Squeeze(op.GatherElements(x, elements, axis=1), axes=[1])


def _row(op: OpBuilder, x: ir.Value, mask: ir.Value, index: ir.Value) -> ir.Value:
    """Choose the row at ``index``, int64 ``[batch, 1]``; zeros where the mask is 0 there."""
    flag = op.GatherElements(mask, index, axis=1)
    return op.Mul(choose_row(op, x, index), flag)


def _row_formula(x: Floats, mask: Floats, index: NDArray[np.intp]) -> Floats:
    rows = np.arange(len(x))
    return x[rows, index] * mask[rows, index, np.newaxis]


def _sums(op: OpBuilder, x: ir.Value, weights: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Sum weighted tokens to ``[batch, hidden]``, and weights to ``[batch, 1]``."""
    column = op.Unsqueeze(weights, axes=[-1])
    total = op.ReduceSum(op.Mul(x, column), axes=[1], keepdims=0)
    return total, op.Max(op.ReduceSum(column, axes=[1], keepdims=0), _SMALLEST)


def _sums_formula(x: Floats, weights: Floats) -> tuple[Floats, Floats]:
    column = weights[:, :, np.newaxis]
    return (x * column).sum(axis=1), np.maximum(column.sum(axis=1), _SMALLEST)
