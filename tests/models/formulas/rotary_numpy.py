"""Formulas of encoders with rotary positions, in float64, for one text that is not padded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from models.folders.tiny_folders import VOCABULARY
from models.parts.tiny_encoders import Floats, random_weights

Weights = Mapping[str, Floats]

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


def weights_of(shapes: dict[str, tuple[int, ...]]) -> dict[str, Floats]:
    """Random weights; scales of norms are around 1."""
    return {
        name: array + np.float32(name.endswith(("norm.weight", "ln.weight")))
        for name, array in random_weights(shapes).items()
    }


def linear(x: Floats, w: Weights, name: str) -> Floats:
    result: Floats = x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", np.zeros(1))
    return result


def layer_norm(x: Floats, w: Weights, name: str, epsilon: float = 1e-12) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    result: Floats = scaled * w[f"{name}.weight"] + w.get(f"{name}.bias", np.zeros(1))
    return result


def gelu(x: Floats) -> Floats:
    result: Floats = x * (1 + _ERF(x / math.sqrt(2))) / 2
    return result


def turned(x: Floats, theta: float) -> Floats:
    """Turn ``[sequence, heads, size]``: pairs as complex numbers times unit ones."""
    half = x.shape[-1] // 2
    angles = np.arange(len(x))[:, None] * theta ** (-np.arange(half) / half)
    pairs = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)[:, None, :]
    return np.concatenate([pairs.real, pairs.imag], axis=-1)


def heads_of(x: Floats, size: int) -> Floats:
    return x.reshape(len(x), -1, size)


def mixed(query: Floats, key: Floats, value: Floats) -> Floats:
    """Attend to all tokens, each head by itself."""
    rows = []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head].T * query.shape[-1] ** -0.5
        weights = np.exp(scores)
        rows.append(weights / weights.sum(axis=1, keepdims=True) @ value[:, head])
    return np.concatenate(rows, axis=-1)
