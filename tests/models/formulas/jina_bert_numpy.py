"""JinaBERT's formulas in float64, for one text; written from the code beside its checkpoints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.folders.tiny_folders import VOCABULARY
from models.formulas.network_numpy import linear_shapes
from models.formulas.rotary_numpy import (
    Floats,
    Weights,
    gelu,
    heads_of,
    layer_norm,
    linear,
    weights_of,
)

HIDDEN, WIDE, HEADS, LAYERS = 24, 28, 6, 3
CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "architectures": ["JinaBertForMaskedLM"],
    "auto_map": {"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
    "position_embedding_type": "alibi",
    "feed_forward_type": "geglu",
    "emb_pooler": "mean",
    "vocab_size": len(VOCABULARY),
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": WIDE,
    "max_position_embeddings": 32,
    "type_vocab_size": 2,
}


def weights(*, code: bool = False) -> dict[str, Floats]:
    """A checkpoint, in the second form if it is the one for code."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(VOCABULARY), HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        **_norm("embeddings.LayerNorm"),
    }
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= linear_shapes(f"{layer}.attention.{part}", HIDDEN, HIDDEN)
        shapes |= _norm(f"{layer}.attention.output.LayerNorm")
        wide, down = ("up_gated_layer", "down_layer") if code else ("gated_layers", "wo")
        shapes[f"{layer}.mlp.{wide}.weight"] = (2 * WIDE, HIDDEN)
        shapes |= linear_shapes(f"{layer}.mlp.{down}", WIDE, HIDDEN)
        for norm in CODE_NORMS if code else ("mlp.layernorm",):
            shapes |= _norm(f"{layer}.{norm}")
    return weights_of(shapes)


CODE_NORMS = (
    *("attention.self.layer_norm_q", "attention.self.layer_norm_k"),
    *("layer_norm_1", "layer_norm_2"),
)


def forward(w: Weights, ids: NDArray[np.int64], kinds: Any = 0) -> Floats:
    """The first form: the gate is the wide layer's first half."""
    x = embedded(w, ids, kinds)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (linear(x, w, f"{layer}.attention.self.{part}") for part in QKV)
        x = attention_output(x, attended(query, key, value), w, layer)
        wide = linear(x, w, f"{layer}.mlp.gated_layers")
        gated = gelu(wide[:, :WIDE]) * wide[:, WIDE:]
        x = layer_norm(linear(gated, w, f"{layer}.mlp.wo") + x, w, f"{layer}.mlp.layernorm")
    return x


def forward_code(w: Weights, ids: NDArray[np.int64], kinds: Any = 0) -> Floats:
    """The second form: queries and keys are normalised, the gate is the second half."""
    x = embedded(w, ids, kinds)
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        query, key, value = (linear(x, w, f"{layer}.attention.self.{part}") for part in QKV)
        query = layer_norm(query, w, f"{layer}.attention.self.layer_norm_q")
        key = layer_norm(key, w, f"{layer}.attention.self.layer_norm_k")
        mixed = attention_output(x, attended(query, key, value), w, layer)
        x = layer_norm(x + mixed, w, f"{layer}.layer_norm_1")
        wide = linear(x, w, f"{layer}.mlp.up_gated_layer")
        down = linear(wide[:, :WIDE] * gelu(wide[:, WIDE:]), w, f"{layer}.mlp.down_layer")
        x = layer_norm(x + down, w, f"{layer}.layer_norm_2")
    return x


QKV = ("query", "key", "value")


def embedded(w: Weights, ids: NDArray[np.int64], kinds: Any) -> Floats:
    words = w["embeddings.word_embeddings.weight"][ids]
    types = w["embeddings.token_type_embeddings.weight"][kinds]
    return layer_norm(words + types, w, "embeddings.LayerNorm")


def attention_output(x: Floats, mixed: Floats, w: Weights, layer: str) -> Floats:
    added = x + linear(mixed, w, f"{layer}.attention.output.dense")
    return layer_norm(added, w, f"{layer}.attention.output.LayerNorm")


def attended(query: Floats, key: Floats, value: Floats) -> Floats:
    """Scores fall with distance, in head h at the slope of `SLOPES`."""
    query, key, value = (heads_of(part, HIDDEN // HEADS) for part in (query, key, value))
    places = np.arange(len(query))
    apart = np.abs(places[:, None] - places[None, :])
    rows = []
    for head, slope in enumerate(SLOPES):
        scores = query[:, head] @ key[:, head].T / math.sqrt(HIDDEN // HEADS) - slope * apart
        shares = np.exp(scores)
        rows.append(shares / shares.sum(axis=1, keepdims=True) @ value[:, head])
    return np.concatenate(rows, axis=-1)


#: Of four heads, then of the first, third, … of eight.
SLOPES = (2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3)


def _norm(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}
