"""NeoBERT in float64, for one text; written from the code beside its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.formulas.rotary_numpy import (
    HEADS,
    HIDDEN,
    LAYERS,
    SIZES,
    Floats,
    Weights,
    linear,
    mixed,
    weights_of,
)

#: Two thirds of 40 are 26, and the next multiple of 8.
WIDE = 32
EPSILON = 1e-5
#: config.json as published, with small sizes.
CONFIG: dict[str, Any] = {
    "architectures": ["NeoBERTLMHead"],
    "auto_map": {
        "AutoConfig": "model.NeoBERTConfig",
        "AutoModel": "model.NeoBERT",
        "AutoModelForMaskedLM": "model.NeoBERTLMHead",
        "AutoModelForSequenceClassification": "model.NeoBERTForSequenceClassification",
    },
    "classifier_init_range": 0.02,
    "decoder_init_range": 0.02,
    "dim_head": HIDDEN // HEADS,
    "embedding_init_range": 0.02,
    "hidden_size": HIDDEN,
    "intermediate_size": 40,
    "kwargs": {"classifier_init_range": 0.02, "trust_remote_code": True},
    "max_length": 4096,
    "model_type": "neobert",
    "norm_eps": EPSILON,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "pad_token_id": 0,
    "pretrained_model_name_or_path": "google-bert/bert-base-uncased",
    "torch_dtype": "float32",
    "transformers_version": "4.48.2",
    "trust_remote_code": True,
    "vocab_size": SIZES["vocab_size"],
}


def weights() -> dict[str, Floats]:
    """A checkpoint, with the head that it was trained with."""
    shapes: dict[str, tuple[int, ...]] = {
        "decoder.weight": (SIZES["vocab_size"], HIDDEN),
        "decoder.bias": (SIZES["vocab_size"],),
        "model.encoder.weight": (SIZES["vocab_size"], HIDDEN),
        "model.layer_norm.weight": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"model.transformer_encoder.{number}"
        shapes[f"{layer}.qkv.weight"] = (3 * HIDDEN, HIDDEN)
        shapes[f"{layer}.wo.weight"] = (HIDDEN, HIDDEN)
        shapes[f"{layer}.ffn.w12.weight"] = (2 * WIDE, HIDDEN)
        shapes[f"{layer}.ffn.w3.weight"] = (HIDDEN, WIDE)
        shapes |= {f"{layer}.{norm}.weight": (HIDDEN,) for norm in ("attention_norm", "ffn_norm")}
    return weights_of(shapes)


def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
    """The whole encoder."""
    x = w["model.encoder.weight"][ids]
    for number in range(LAYERS):
        layer = f"model.transformer_encoder.{number}"
        qkv = linear(normed(x, w, f"{layer}.attention_norm"), w, f"{layer}.qkv")
        query, key, value = np.split(qkv.reshape(len(ids), HEADS, -1), 3, axis=-1)
        x = x + linear(mixed(turned(query), turned(key), value), w, f"{layer}.wo")
        wide = linear(normed(x, w, f"{layer}.ffn_norm"), w, f"{layer}.ffn.w12")
        gate, up = np.split(wide, 2, axis=-1)
        x = x + linear(gate / (1 + np.exp(-gate)) * up, w, f"{layer}.ffn.w3")
    return normed(x, w, "model.layer_norm")


def normed(x: Floats, w: Weights, name: str) -> Floats:
    scaled: Floats = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * w[f"{name}.weight"]


def turned(x: Floats) -> Floats:
    """Turn ``[sequence, heads, size]``: neighbours as complex numbers times unit ones."""
    exponents = np.arange(0, x.shape[-1], 2) / x.shape[-1]
    angles = np.arange(len(x))[:, None] * 10_000.0**-exponents
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)[:, None, :]
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)
