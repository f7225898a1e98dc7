"""The decoder that Qwen2, Qwen3, Mistral and Gemma share, in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.formulas.rotary_numpy import (
    HEADS,
    HIDDEN,
    LAYERS,
    SIZES,
    WIDE,
    Allowed,
    Floats,
    Weights,
    heads_of,
    linear,
    mixed,
    rms_norm,
    silu,
    turned,
    weights_of,
)

GROUPS, THETA = 2, 50.0
DECODER: dict[str, Any] = SIZES | {
    "num_key_value_heads": GROUPS,
    "rope_parameters": {"rope_type": "default", "rope_theta": THETA},
}


def decoder_shapes(size: int, biased: str = "", norms: bool = False) -> dict[str, tuple[int, ...]]:
    """Shapes of a checkpoint; ``biased`` are the letters of the projections with a bias."""
    shapes: dict[str, tuple[int, ...]] = {
        "embed_tokens.weight": (SIZES["vocab_size"], HIDDEN),
        "norm.weight": (HIDDEN,),
    }
    query, key = HEADS * size, GROUPS * size
    outputs = {"q": (query, HIDDEN), "k": (key, HIDDEN), "v": (key, HIDDEN), "o": (HIDDEN, query)}
    for number in range(LAYERS):
        layer = f"layers.{number}"
        shapes |= {f"{layer}.self_attn.{p}_proj.weight": shape for p, shape in outputs.items()}
        shapes |= {f"{layer}.self_attn.{p}_proj.bias": outputs[p][:1] for p in biased}
        shapes |= {f"{layer}.self_attn.{p}_norm.weight": (size,) for p in "qk" if norms}
        shapes |= {f"{layer}.mlp.{part}_proj.weight": (WIDE, HIDDEN) for part in ("gate", "up")}
        shapes[f"{layer}.mlp.down_proj.weight"] = (HIDDEN, WIDE)
        shapes |= {
            f"{layer}.{part}_layernorm.weight": (HIDDEN,) for part in ("input", "post_attention")
        }
    return shapes


def decoder_weights(size: int, biased: str = "", norms: bool = False) -> dict[str, Floats]:
    return weights_of(decoder_shapes(size, biased, norms))


def decoder(
    size: int,
    visible: Sequence[Callable[[int], Allowed]],
    frequencies: Floats | None = None,
    *,
    activation: Callable[[Floats], Floats] = silu,
    scale: float = 1.0,
    one: float = 0.0,
) -> Callable[[Weights, NDArray[np.int64]], Floats]:
    """The forward pass; ``visible`` gives each layer's attended tokens for a length.

    Tokens are multiplied by ``scale``, and ``one`` is added to the weights of norms.
    """
    turn = partial(turned, theta=THETA, frequencies=frequencies)

    def forward(w: Weights, ids: NDArray[np.int64]) -> Floats:
        x = w["embed_tokens.weight"][ids] * scale
        for number, allowed in enumerate(visible):
            layer = f"layers.{number}"
            normed = rms_norm(x, one + w[f"{layer}.input_layernorm.weight"])
            query, key, value = (
                heads_of(linear(normed, w, f"{layer}.self_attn.{p}_proj"), size) for p in "qkv"
            )
            if f"{layer}.self_attn.q_norm.weight" in w:
                query = rms_norm(query, w[f"{layer}.self_attn.q_norm.weight"])
                key = rms_norm(key, w[f"{layer}.self_attn.k_norm.weight"])
            attended = mixed(turn(query), turn(key), value, allowed(len(ids)))
            x = x + linear(attended, w, f"{layer}.self_attn.o_proj")
            normed = rms_norm(x, one + w[f"{layer}.post_attention_layernorm.weight"])
            gate = activation(linear(normed, w, f"{layer}.mlp.gate_proj"))
            up = linear(normed, w, f"{layer}.mlp.up_proj")
            x = x + linear(gate * up, w, f"{layer}.mlp.down_proj")
        return rms_norm(x, one + w["norm.weight"])

    return forward
