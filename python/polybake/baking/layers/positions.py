"""The positions of tokens in their text, the distances between them, and biases by distance."""

import math

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir, nn


def positions(op: OpBuilder, ids: ir.Value) -> ir.Value:
    """Count int64 ``[batch, sequence, ...]`` from 0: int64 ``[sequence]``."""
    counted: ir.Value = op.Range(0, op.Squeeze(op.Shape(ids, start=1, end=2), axes=[0]), 1)
    counted.shape = ir.Shape(["sequence"])  # which inference cannot know
    return counted


def positions_after_padding(op: OpBuilder, ids: ir.Value, padding_id: int) -> ir.Value:
    """Count int64 ``[batch, sequence]`` from ``padding_id + 1``, in the same shape.

    Padding has position ``padding_id`` and is not counted, even if the text spells it.

    Source: transformers ``create_position_ids_from_input_ids``.
    """
    counted = op.Cast(op.Not(op.Equal(ids, padding_id)), to=ir.DataType.INT64)
    return op.Add(op.Mul(op.CumSum(counted, 1), counted), padding_id)


def distances(op: OpBuilder, x: ir.Value) -> ir.Value:
    """How far each key stands after each query of ``[batch, sequence, ...]``.

    int64 ``[query, key]``, negative for keys before the query.
    """
    index = positions(op, x)
    return op.Sub(op.Unsqueeze(index, axes=[0]), op.Unsqueeze(index, axes=[1]))


def alibi_bias(op: OpBuilder, x: ir.Value, heads: int) -> ir.Value:
    """Map ``[batch, sequence, ...]`` to float32 ``[1, heads, query, key]``, at most 0.

    Scores fall with the distance of two tokens, in each head at its own slope (ALiBi).

    Source: arXiv 2108.12409; symmetric, as JinaBERT's ``rebuild_alibi_tensor`` has it.
    """
    falling = np.array(slopes(heads), np.float32).reshape(1, heads, 1, 1) * -1
    apart = op.Cast(op.Abs(distances(op, x)), to=ir.DataType.FLOAT)
    return op.Mul(op.Unsqueeze(apart, axes=[0, 1]), op.initializer(ir.tensor(falling), "slopes"))


def slopes(heads: int) -> list[float]:
    """Return the slope of each head: 2 ** (-8 / n) and its powers for n heads, a power of 2.

    Another number of heads takes the slopes of the next lower power, and then every other one of
    the next higher power.
    """
    lower = 2 ** math.floor(math.log2(heads))
    falling = [2.0 ** (-8 * (head + 1) / lower) for head in range(lower)]
    return falling if lower == heads else falling + slopes(2 * lower)[::2][: heads - lower]


class RelativeBias(nn.Module):
    """A table ``[buckets, heads]``, looked up by the distance between query and key."""

    def __init__(
        self, heads: int, buckets: int, max_distance: int, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.weight = nn.Parameter([buckets, heads])
        self.max_distance = max_distance
        self.buckets = relative_buckets(buckets, max_distance)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map ``[batch, sequence, ...]`` to float32 ``[1, heads, query, key]``."""
        table = op.initializer(ir.tensor(self.buckets), "buckets")
        far = self.max_distance
        shifted = op.Add(op.Clip(distances(op, x), -far, far), far)
        bias = op.Gather(self.weight, op.Gather(table, shifted))
        return op.Unsqueeze(op.Transpose(bias, perm=[2, 0, 1]), axes=[0])


def relative_buckets(buckets: int, max_distance: int) -> NDArray[np.int64]:
    """Return T5's bucket of each distance from ``-max_distance`` to ``max_distance``.

    Half of the buckets are for keys after the query. In each half, the first half has one bucket
    per distance, and the others widen logarithmically up to ``max_distance``; larger distances
    share the last bucket.

    Source: transformers ``T5Attention._relative_position_bucket``, bidirectional, in float32.
    """
    distance = np.arange(-max_distance, max_distance + 1)
    half = buckets // 2
    exact = half // 2
    near = np.abs(distance)
    ratio = np.maximum(near, exact).astype(np.float32) / np.float32(exact)
    scaled = np.log(ratio) / np.float32(math.log(max_distance / exact)) * np.float32(half - exact)
    wide = np.minimum(exact + scaled.astype(np.int64), half - 1)
    return np.where(distance > 0, half, 0) + np.where(near < exact, near, wide)


def log_buckets(last: int, *, buckets: int, furthest: int, span: int) -> NDArray[np.int64]:
    """Return DeBERTa's row of the relative embeddings for each distance, ``-last`` to ``last``.

    A distance is the key's position less the query's. Near distances have a row each. Distances
    beyond half of ``buckets`` share rows, logarithmically, up to ``furthest``. Without buckets all
    distances have a row each, up to ``span``.

    Source: transformers ``build_relative_position`` and ``make_log_bucket_position``, in float32.
    """
    before = -np.arange(-last, last + 1)
    if buckets > 0:
        middle = buckets // 2
        far = np.maximum(np.abs(before), middle).astype(np.float32) / np.float32(middle)
        steps = np.log(far) / np.log(np.float32((furthest - 1) / middle)) * np.float32(middle - 1)
        wide = np.sign(before) * (np.ceil(steps).astype(np.int64) + middle)
        before = np.where(np.abs(before) <= middle, before, wide)
    return np.clip(before + span, 0, 2 * span - 1)
