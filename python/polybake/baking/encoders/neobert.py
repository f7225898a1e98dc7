"""NeoBERT: a deep BERT with rotary positions, RMS norms before each block, and SwiGLU.

Its positions turn pairs of neighbouring elements, and its queries, keys and values are one layer,
head by head.

Source: ``NeoBERT`` of chandar-lab/NeoBERT.
"""

from dataclasses import replace

import numpy as np

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options, Stored
from polybake.baking.layers.norms import RMSNorm
from polybake.baking.layers.rotary import frequencies
from polybake.baking.layers.stored_tensor import StoredTensor


def neobert(config: EncoderConfig) -> Options:
    """NeoBERT's configuration; its code has a theta and an activation that no key changes."""
    # Initial weights, and what its tokenizer came from.
    config.pass_over("classifier_init_range", "decoder_init_range", "embedding_init_range")
    config.pass_over("kwargs", "pretrained_model_name_or_path", "trust_remote_code")
    wide = 2 * config.size("intermediate_size") // 3
    options = config.sizes(intermediate_size=8 * -(-wide // 8))
    config.only("dim_head", options.head_size)
    return replace(
        config.turned(options, frequencies(options.head_size, 10_000.0)),
        epsilon=config.epsilon("norm_eps", default=1e-6),
        activation="silu",
        norm=RMSNorm,
        norms="before",
        biases=frozenset(),
        gated=True,
    )


def _arranged(options: Options, stored: Stored) -> dict[str, StoredTensor]:
    """Put queries, keys and values one below another, with neighbours half a head apart."""
    heads, size = options.heads, options.head_size
    rows = np.arange(3 * heads * size).reshape(heads, 3, size // 2, 2).transpose(1, 0, 3, 2)
    values = np.arange(3 * heads * size).reshape(heads, 3, size)[:, 2]
    order = np.concatenate([rows[0].ravel(), rows[1].ravel(), values.ravel()])
    return {
        name: tensor.rows(order)
        if name.endswith(".qkv.weight") and tensor.shape[0] == len(order)
        else tensor
        for name, tensor in stored.items()
    }


NAMES = {
    "tokens": "encoder",
    "layer": "transformer_encoder.{}",
    "before_attention": "attention_norm",
    "qkv": "qkv",
    "output": "wo",
    "before_feed_forward": "ffn_norm",
    "gate_up": "ffn.w12",
    "down": "ffn.w3",
    "final_norm": "layer_norm",
}
HEADS = ("decoder.", "dense.", "classifier.")
ARCHITECTURES = {
    "neobert": Architecture(
        neobert, NAMES, "model.", HEADS, arranged=_arranged, own_code=("NeoBERT",)
    )
}
