"""Formulas of encoders with rotary positions, in float64, for one text that is not padded."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.folders.tiny_folders import VOCABULARY, write_bert
from models.parts.tiny_encoders import Floats, random_weights, token_embeddings

Weights = Mapping[str, Floats]
Allowed = NDArray[np.bool_]

HIDDEN, WIDE, HEADS, LAYERS = 24, 28, 4, 3
SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": WIDE,
    "max_position_embeddings": 32,
}

#: A whole row, one padded on the right and one on the left.
IDS = np.array([[2, 6, 9, 17, 8, 30, 5, 3], [2, 30, 8, 3, 0, 0, 0, 0], [0, 0, 0, 2, 6, 9, 17, 3]])
MASK = np.array([[1] * 8, [1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1]])

_ERF = np.vectorize(math.erf)


def weights_of(shapes: dict[str, tuple[int, ...]], centre: float = 1.0) -> dict[str, Floats]:
    """Random weights; scales of norms are around ``centre``."""
    return {
        name: array + np.float32(centre if name.endswith(("norm.weight", "ln.weight")) else 0.0)
        for name, array in random_weights(shapes).items()
    }


def assert_matches(
    config: dict[str, Any],
    weights: dict[str, Floats],
    forward: Callable[[Weights, NDArray[np.int64]], Floats],
    scratch: Path,
    **fed: NDArray[np.int64],
) -> None:
    """Every kept token's embedding equals the formula's for the text alone."""
    folder = write_bert(scratch / "model", config, weights)
    found = token_embeddings(folder, scratch, input_ids=IDS, attention_mask=MASK, **fed)
    exact = {name: array.astype(np.float64) for name, array in weights.items()}
    for row, ids, mask in zip(found, IDS, MASK, strict=True):
        expected = forward(exact, ids[mask == 1])
        np.testing.assert_allclose(row[mask == 1], expected, atol=2e-6 * np.abs(expected).max())


def linear(x: Floats, w: Weights, name: str) -> Floats:
    result: Floats = x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", np.zeros(1))
    return result


def rms_norm(x: Floats, scale: Floats) -> Floats:
    result: Floats = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6) * scale
    return result


def layer_norm(x: Floats, w: Weights, name: str, epsilon: float = 1e-12) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    result: Floats = scaled * w[f"{name}.weight"] + w.get(f"{name}.bias", np.zeros(1))
    return result


def silu(x: Floats) -> Floats:
    result: Floats = x / (1 + np.exp(-x))
    return result


def gelu(x: Floats) -> Floats:
    result: Floats = x * (1 + _ERF(x / math.sqrt(2))) / 2
    return result


def gelu_tanh(x: Floats) -> Floats:
    result: Floats = x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    return result


def turned(x: Floats, theta: float, ntk: float = 1.0, frequencies: Floats | None = None) -> Floats:
    """Turn ``[sequence, heads, size]``: pairs as complex numbers times unit ones."""
    half = x.shape[-1] // 2
    if frequencies is None:
        frequencies = ntk ** (-1 / half) * (ntk * theta) ** (-np.arange(half) / half)
    angles = np.arange(len(x))[:, None] * frequencies
    pairs = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)[:, None, :]
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def heads_of(x: Floats, size: int) -> Floats:
    return x.reshape(len(x), -1, size)


def mixed(
    query: Floats, key: Floats, value: Floats, allowed: Allowed, scale: float | None = None
) -> Floats:
    """Attend; query heads in a row share the fewer key and value heads."""
    group = query.shape[1] // key.shape[1]
    scale = scale or query.shape[-1] ** -0.5
    rows = []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head // group].T * scale
        weights = np.where(allowed, np.exp(scores), 0.0)
        rows.append(weights / weights.sum(axis=1, keepdims=True) @ value[:, head // group])
    return np.concatenate(rows, axis=-1)


def near(length: int, before: float = math.inf, after: float = math.inf) -> Allowed:
    """Whether each query (row) attends to each key: by how far the key is before or after it."""
    ahead = np.arange(length)[None, :] - np.arange(length)[:, None]
    result: Allowed = (ahead <= after) & (-ahead <= before)
    return result
