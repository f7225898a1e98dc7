"""Rotary positions against complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.formulas.rotary_numpy import heads_of, mixed, near, turned
from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.rotary import attend_fused, frequencies, rotation

IDS = np.zeros((2, 5), np.int64)


def test_pairs_turn_by_their_position() -> None:
    """Element i and i + size / 2 turn together by position times theta ** (-2 i / size)."""
    x = np.random.default_rng(3).normal(size=(2, 3, 5, 6)).astype(np.float32)

    def build(op: Any, ids: Any, x: Any) -> Any:
        return rotation(op, ids, frequencies(6, 40.0)).turn(op, x)

    found = run_graph(build, ids=IDS, x=x)
    for row, given in zip(found, x, strict=True):
        expected = turned(given.transpose(1, 0, 2), 40.0).transpose(1, 0, 2)
        np.testing.assert_allclose(row, expected, atol=1e-6)


@pytest.mark.parametrize("theta", [1_000.0, 10_000.0, 160_000.0, 1_000_000.0])
@pytest.mark.parametrize("head_size", [6, 64, 128])
def test_frequencies_fall_from_one(theta: float, head_size: int) -> None:
    """The first pair turns by 1 a position, the others by powers of theta, as float32 has them."""
    found = frequencies(head_size, theta)
    expected = theta ** (-np.arange(head_size // 2) / (head_size // 2))
    assert found[0] == 1.0
    np.testing.assert_allclose(found, expected, rtol=5e-7)
    assert found == [float(np.float32(value)) for value in found]


@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_ntk_scaling_stretches_every_pair(factor: float) -> None:
    """Fixed NTK scaling: a base times the factor, and all frequencies by factor ** (-2 / size)."""
    found = frequencies(64, 20_000.0, ntk=factor)
    expected = factor ** (-1 / 32) * (20_000.0 * factor) ** (-np.arange(32) / 32)
    np.testing.assert_allclose(found, expected, rtol=5e-7)


def test_fused_queries_keys_and_values() -> None:
    """Thirds of the last axis are queries, keys and values; values are not turned."""
    qkv = np.random.default_rng(4).normal(size=(1, 5, 36)).astype(np.float32)

    def build(op: Any, ids: Any, qkv: Any, bias: Any) -> Any:
        turned = rotation(op, ids, frequencies(4, 40.0))
        return attend_fused(op, qkv, turned, bias, heads=3, head_size=4)

    bias = np.zeros((1, 1, 1, 5), np.float32)
    found = run_graph(build, ids=IDS[:1], qkv=qkv, bias=bias)
    query, key, value = (heads_of(part, 4) for part in np.split(qkv[0], 3, axis=-1))
    expected = mixed(turned(query, 40.0), turned(key, 40.0), value, near(5))
    np.testing.assert_allclose(found[0], expected, atol=1e-6)
