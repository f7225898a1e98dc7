"""T5's relative position bias: a bias for each head and each bucket of distances."""

import math

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir, nn

from polybake.baking.layers.positions import distances


class RelativeBias(nn.Module):
    """A table ``[buckets, heads]``, looked up by the distance between query and key."""

    def __init__(self, heads: int, buckets: int, max_distance: int) -> None:
        super().__init__()
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
    """Return the bucket of each distance from ``-max_distance`` to ``max_distance``.

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
