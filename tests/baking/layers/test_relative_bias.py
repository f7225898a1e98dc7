"""T5's buckets by hand, and the bias looked up by them."""

from __future__ import annotations

import numpy as np
from onnxscript import ir

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.relative_bias import RelativeBias, relative_buckets


def test_buckets_widen_with_the_distance() -> None:
    """Of 8 buckets a direction has 2 near ones, and 2 that end at a distance of 4 and beyond."""
    before = [3, 3, 2, 2, 1]
    assert relative_buckets(8, 5).tolist() == [*before, 0, 5, 6, 6, 7, 7]


def test_standard_buckets() -> None:
    """T5's own 32 buckets: exact up to 7, then half an octave each, and one beyond 90."""
    after = relative_buckets(32, 128)[128:]
    first = [int(np.argmax(after == bucket)) for bucket in range(17, 32)]
    assert first == [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
    assert after[-1] == 31


def test_bias_is_looked_up_by_distance() -> None:
    """Each pair of tokens has its head's bias of its bucket, also beyond the last one."""
    table = np.random.default_rng(3).normal(size=(8, 3)).astype(np.float32)
    module = RelativeBias(3, 8, 5)
    module.weight.const_value = ir.tensor(table)
    found = run_graph(module, x=np.zeros((2, 9), np.int64))
    assert found.shape == (1, 3, 9, 9)
    buckets = relative_buckets(8, 5)
    for query, key in np.ndindex(9, 9):
        bucket = buckets[np.clip(key - query, -5, 5) + 5]
        np.testing.assert_array_equal(found[0, :, query, key], table[bucket])
