"""NomicBERT's second version in float64, for one text; written from the code beside its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.formulas.network_numpy import linear_shapes
from models.formulas.rotary_numpy import (
    HEADS,
    HIDDEN,
    SIZES,
    WIDE,
    Floats,
    Weights,
    gelu,
    heads_of,
    layer_norm,
    linear,
    mixed,
    turned,
    weights_of,
)

LAYERS, EXPERTS, TOP = 4, 5, 2
CONFIG: dict[str, Any] = {
    "model_type": "nomic_bert",
    "architectures": ["NomicBertModel"],
    "auto_map": {"AutoModel": "nomic-ai/nomic-bert-2048--modeling_hf_nomic_bert.NomicBertModel"},
    "vocab_size": SIZES["vocab_size"],
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_inner": WIDE,
    "n_positions": 64,
    "type_vocab_size": 1,
    "layer_norm_epsilon": 1e-12,
    "activation_function": "gelu",
    "qkv_proj_bias": True,
    "mlp_fc1_bias": True,
    "mlp_fc2_bias": True,
    "rotary_emb_base": 50,
    "num_experts": EXPERTS,
    "moe_every_n_layers": 2,
    "moe_top_k": TOP,
    "moe_normalize_expert_weights": False,
    "moe_impl": "megablocks",
    "expert_choice_router": False,
    "num_shared_experts": 0,
    "ffn_div": 1,
}


def weights() -> dict[str, Floats]:
    """A checkpoint; the second and the fourth layer have experts."""
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (SIZES["vocab_size"], HIDDEN),
        "embeddings.token_type_embeddings.weight": (1, HIDDEN),
        "emb_ln.weight": (HIDDEN,),
        "emb_ln.bias": (HIDDEN,),
    }
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        shapes |= linear_shapes(f"{layer}.attn.Wqkv", HIDDEN, 3 * HIDDEN)
        shapes |= linear_shapes(f"{layer}.attn.out_proj", HIDDEN, HIDDEN)
        if number % 2:
            shapes[f"{layer}.mlp.router.layer.weight"] = (EXPERTS, HIDDEN)
            shapes[f"{layer}.mlp.experts.bias"] = (HIDDEN,)
            for weight in ("w1", "w2"):
                shapes[f"{layer}.mlp.experts.mlp.{weight}"] = (EXPERTS * WIDE, HIDDEN)
        else:
            shapes |= linear_shapes(f"{layer}.mlp.fc1", HIDDEN, WIDE)
            shapes |= linear_shapes(f"{layer}.mlp.fc2", WIDE, HIDDEN)
        shapes |= {
            f"{layer}.{norm}.{part}": (HIDDEN,)
            for norm in ("norm1", "norm2")
            for part in ("weight", "bias")
        }
    return weights_of(shapes)


def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
    """The whole encoder."""
    words = w["embeddings.word_embeddings.weight"][ids]
    x = layer_norm(words + w["embeddings.token_type_embeddings.weight"][0], w, "emb_ln")
    for number in range(LAYERS):
        layer = f"encoder.layers.{number}"
        query, key, value = (
            heads_of(part, HIDDEN // HEADS)
            for part in np.split(linear(x, w, f"{layer}.attn.Wqkv"), 3, axis=-1)
        )
        attended = mixed(turned(query, 50.0), turned(key, 50.0), value)
        x = layer_norm(x + linear(attended, w, f"{layer}.attn.out_proj"), w, f"{layer}.norm1")
        if number % 2:
            wide = np.array([experts(token, w, f"{layer}.mlp") for token in x])
        else:
            wide = linear(gelu(linear(x, w, f"{layer}.mlp.fc1")), w, f"{layer}.mlp.fc2")
        x = layer_norm(x + wide, w, f"{layer}.norm2")
    return x


def experts(token: Floats, w: Weights, name: str) -> Floats:
    """The two experts of a token by their shares among all, which are not scaled to 1."""
    scores = np.exp(w[f"{name}.router.layer.weight"] @ token)
    shares = scores / scores.sum()
    total = w[f"{name}.experts.bias"].copy()
    for expert in np.argsort(-shares)[:TOP]:
        w1, w2 = (
            w[f"{name}.experts.mlp.{weight}"].reshape(EXPERTS, WIDE, HIDDEN)[expert]
            for weight in ("w1", "w2")
        )
        total += shares[expert] * (gelu(w1 @ token) @ w2)
    result: Floats = total
    return result
