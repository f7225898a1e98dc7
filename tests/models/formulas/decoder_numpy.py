"""A configuration of the decoders, and weights of Qwen3 for it."""

from __future__ import annotations

from typing import Any

from models.folders.drawn import drawn_weights
from models.folders.tiny_folders import Arrays
from models.formulas.rotary_numpy import SIZES

DECODER: dict[str, Any] = SIZES | {
    "num_key_value_heads": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 50.0},
}


def decoder_weights(size: int, norms: bool) -> Arrays:
    """A checkpoint with heads of this size; Qwen3's norms are of queries and keys."""
    return drawn_weights("qwen3" if norms else "llama", DECODER | {"head_dim": size})
