"""Attention against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from models.parts.tiny_encoders import run_graph
from polybake.baking.layers.attention import attend, merge_heads, padding_bias, split_heads

HEADS, SIZE = 6, 5


@pytest.mark.parametrize("key_value_heads", [None, 6, 2, 1])
@pytest.mark.parametrize("scale", [None, 1.0, 0.7])
def test_attend_matches_numpy(key_value_heads: int | None, scale: float | None) -> None:
    """Each query head mixes the values of its own or its group's head, with bias and scale."""
    random = np.random.default_rng(2)
    stored = key_value_heads or HEADS
    query = random.normal(size=(2, HEADS, 4, SIZE)).astype(np.float32)
    key, value = random.normal(size=(2, 2, stored, 4, SIZE)).astype(np.float32)
    bias = random.normal(size=(1, HEADS, 4, 4)).astype(np.float32)

    def build(op: Any, **values: Any) -> Any:
        settings: dict[str, Any] = {"key_value_heads": key_value_heads, "scale": scale}
        return attend(op, **values, heads=HEADS, head_size=SIZE, **settings)

    found = run_graph(build, query=query, key=key, value=value, bias=bias)
    expected = np.zeros((2, 4, HEADS * SIZE))
    for batch, head in np.ndindex(2, HEADS):
        group = head * stored // HEADS
        scores = query[batch, head] @ key[batch, group].T * (scale or 1 / np.sqrt(SIZE))
        weights = np.exp(scores + bias[0, head])
        mixed = weights / weights.sum(axis=1, keepdims=True) @ value[batch, group]
        expected[batch, :, head * SIZE : (head + 1) * SIZE] = mixed
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_masked_tokens_have_no_weight() -> None:
    """The padding bias is 0 for kept tokens and hides masked ones, whatever their scores."""
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    found = run_graph(padding_bias, attention_mask=mask)
    assert found.shape == (2, 1, 1, 3)
    assert (found[mask[:, None, None, :] == 1] == 0).all()
    assert (np.exp(found[mask[:, None, None, :] == 0] + 1e4) == 0).all()


def test_heads_are_split_and_merged() -> None:
    """A head holds neighbouring elements, and merging undoes splitting."""
    x = np.arange(2 * 3 * 12, dtype=np.float32).reshape(2, 3, 12)
    split = run_graph(lambda op, x: split_heads(op, x, 4, 3), x=x)
    np.testing.assert_array_equal(split[1, 2], x[1, :, 6:9])
    merged = run_graph(lambda op, x: merge_heads(op, x, 4, 3), x=split)
    np.testing.assert_array_equal(merged, x)
