"""Model folders of any architecture that polybake builds, with drawn weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.tiny_folders import CONFIG, write_bert
from polybake.encoders import ENCODERS
from polybake.layers.linear import Linear

#: Large enough that products are worth another type.
SIZES: dict[str, Any] = {
    "vocab_size": CONFIG["vocab_size"],
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "max_position_embeddings": 130,
}

ROTATION = {"rope_type": "default", "rope_theta": 300.0}

DRAWN: dict[str, dict[str, Any]] = {
    "bert": CONFIG | SIZES,
    "modernbert": SIZES
    | {
        "local_attention": 9,
        "rope_parameters": {"full_attention": ROTATION, "sliding_attention": ROTATION},
        "layer_types": ["full_attention", "sliding_attention"],
    },
    "qwen3": SIZES | {"num_key_value_heads": 2, "head_dim": 64, "rope_parameters": ROTATION},
    "t5": {
        "vocab_size": CONFIG["vocab_size"],
        "d_model": 128,
        "d_kv": 32,
        "d_ff": 256,
        "num_layers": 2,
        "num_heads": 4,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 5,
    },
}


def drawn_weights(kind: str) -> dict[str, NDArray[np.float32]]:
    """Of a spread that keeps the sizes of what they multiply; norms are around 1."""
    random = np.random.default_rng(4)
    architecture = ENCODERS[kind]
    network = architecture(architecture.Config.model_validate(DRAWN[kind]))
    weights = {}
    for path, module in network.named_modules():
        for name, parameter in module.named_parameters(path, recurse=False):
            shape = tuple(int(size) for size in parameter.shape or ())
            linear = isinstance(module, Linear) and parameter is module.weight
            spread = shape[0] ** -0.5 if linear else 0.2
            drawn = random.normal(0, spread, shape[::-1] if linear else shape)
            weights[name] = (drawn + ("norm" in name.lower())).astype(np.float32)
    return weights


def write_drawn(
    folder: Path, kind: str, changes: Mapping[str, NDArray[np.float32]] | None = None
) -> Path:
    """Write such a model; ``changes`` are weights in the place of drawn ones."""
    weights = drawn_weights(kind) | dict(changes or {})
    return write_bert(folder, DRAWN[kind] | {"model_type": kind}, weights)
