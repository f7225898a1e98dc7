"""The ways to make one vector of a text's token embeddings.

Source: sentence-transformers ``Pooling``.
"""

import abc

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir

from polybake.baking.graph.pooled_rows import choose_row
from polybake.baking.steps.state import Floats

_SMALLEST_WEIGHT = 1e-9


class PoolingMode(abc.ABC):
    """One way of pooling, as ONNX operators and in NumPy.

    Both forms take token embeddings ``x``, float ``[batch, sequence, hidden]``, and two masks,
    float ``[batch, sequence]``: ``tokens`` is 1 at a token of the text and 0 at padding, ``kept``
    is 1 at a token that is pooled, which those of a prompt may not be. They give float
    ``[batch, hidden]``: zeros for a row without any token.
    """

    @abc.abstractmethod
    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Add the operators to the graph and return the result."""

    @abc.abstractmethod
    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Compute the same in NumPy."""


class First(PoolingMode):
    """The first kept token; if none is kept, the first token of the text."""

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Find the first 2 of ``tokens + kept``, else the first 1."""
        return _at(op, x, tokens, op.ArgMax(op.Add(tokens, kept), axis=1, keepdims=1))

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Find the first 2 of ``tokens + kept``, else the first 1."""
        return _at_numpy(x, tokens, np.argmax(tokens + kept, axis=1))


class Last(PoolingMode):
    """The last kept token."""

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Find where the running count of kept tokens first reaches its end."""
        return _at(op, x, kept, op.ArgMax(op.CumSum(kept, 1), axis=1, keepdims=1))

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Find where the running count of kept tokens first reaches its end."""
        return _at_numpy(x, kept, np.argmax(np.cumsum(kept, axis=1), axis=1))


class Maximum(PoolingMode):
    """The largest value of each element over the kept tokens.

    If none is kept, sentence-transformers gives -inf, which has no similarity to anything.
    """

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Take the maximum with -inf for all other tokens, and 0 where none is kept."""
        is_kept = op.Greater(op.Unsqueeze(kept, axes=[-1]), 0.0)
        largest = op.ReduceMax(op.Where(is_kept, x, -np.inf), axes=[1], keepdims=0)
        any_kept = op.Greater(op.ReduceMax(kept, axes=[1], keepdims=1), 0.0)
        return op.Where(any_kept, largest, 0.0)

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Take the maximum with -inf for all other tokens, and 0 where none is kept."""
        largest = np.where(kept[:, :, np.newaxis] > 0, x, -np.inf).max(axis=1)
        return np.where(kept.any(axis=1, keepdims=True), largest, 0.0)


class Mean(PoolingMode):
    """The sum of the kept tokens, divided by their number."""

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Add ``sum(x) / n``."""
        return op.Div(*_sums(op, x, kept))

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Compute ``sum(x) / n``."""
        total, count = _sums_numpy(x, kept)
        return total / count


class MeanSqrtLength(PoolingMode):
    """The sum of the kept tokens, divided by the square root of their number."""

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Add ``sum(x) / sqrt(n)``."""
        total, count = _sums(op, x, kept)
        return op.Div(total, op.Sqrt(count))

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Compute ``sum(x) / sqrt(n)``."""
        total, count = _sums_numpy(x, kept)
        return total / np.sqrt(count)


class WeightedMean(PoolingMode):
    """The mean of the kept tokens, weighted by their place 1, 2, … n in the whole text."""

    def build(self, op: OpBuilder, x: ir.Value, tokens: ir.Value, kept: ir.Value) -> ir.Value:
        """Add ``sum(place * x) / sum(place)``."""
        return op.Div(*_sums(op, x, op.Mul(kept, op.CumSum(tokens, 1))))

    def numpy(self, x: Floats, tokens: Floats, kept: Floats) -> Floats:
        """Compute ``sum(place * x) / sum(place)``."""
        total, weight = _sums_numpy(x, kept * np.cumsum(tokens, axis=1))
        return total / weight


#: The modes by sentence-transformers' names.
POOLING_MODES: dict[str, PoolingMode] = {
    "cls": First(),
    "max": Maximum(),
    "mean": Mean(),
    "mean_sqrt_len_tokens": MeanSqrtLength(),
    "weightedmean": WeightedMean(),
    "lasttoken": Last(),
}


def _sums(op: OpBuilder, x: ir.Value, weights: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return the sum of weighted tokens, ``[batch, hidden]``, and of weights, ``[batch, 1]``."""
    column = op.Unsqueeze(weights, axes=[-1])
    total = op.ReduceSum(op.Mul(x, column), axes=[1], keepdims=0)
    return total, op.Max(op.ReduceSum(column, axes=[1], keepdims=0), _SMALLEST_WEIGHT)


def _sums_numpy(x: Floats, weights: Floats) -> tuple[Floats, Floats]:
    column = weights[:, :, np.newaxis]
    return (x * column).sum(axis=1), np.maximum(column.sum(axis=1), _SMALLEST_WEIGHT)


def _at(op: OpBuilder, x: ir.Value, mask: ir.Value, index: ir.Value) -> ir.Value:
    """Return the token at ``index``, int64 ``[batch, 1]``; zeros if the mask is 0 there."""
    kept = op.GatherElements(mask, index, axis=1)
    return op.Mul(choose_row(op, x, index), kept)


def _at_numpy(x: Floats, mask: Floats, index: NDArray[np.intp]) -> Floats:
    rows = np.arange(len(x))
    return x[rows, index] * mask[rows, index, np.newaxis]
