"""Gemma: Llama with scaled tokens, norms around 1, and heads whose size is apart.

Gemma 3's text model has normalised heads, norms before and after each block, and layers of two
types; it also attends to both sides, as EmbeddingGemma has it.

Source: transformers ``GemmaModel`` and ``Gemma3TextModel``.
"""

import math
from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.decoder import HEADS, NAMES, decoder, is_causal
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.options import Options
from polybake.baking.layers.norms import OneBasedRMSNorm


def gemma(config: EncoderConfig) -> Options:
    """Gemma's configuration."""
    # Gemma has one function, which its first files call "gelu", and some versions of transformers 4
    # read another key.
    config.only("hidden_act", "gelu_pytorch_tanh", "gelu")
    config.only("hidden_activation", "gelu_pytorch_tanh", None)
    options = config.one_theta(_scaled(decoder(config, head_dim=256)), 10_000.0)
    return replace(options, activation="gelu_tanh", causal=is_causal(config))


def gemma3(config: EncoderConfig) -> Options:
    """The configuration of Gemma 3's text model; to both sides half a window each."""
    # The logits' alone, and what transformers 4 saves beside the layers' types that it made.
    config.pass_over("final_logit_softcapping", "_sliding_window_pattern")
    config.only("attn_logit_softcapping", None)
    config.only("is_causal", True)
    both_ways = config.optional_flag("use_bidirectional_attention") or False
    options = replace(
        _scaled(
            decoder(config, head_dim=256, activation=("hidden_activation", "gelu_pytorch_tanh"))
        ),
        norms="both",
        head_norm="each",
        scale=1.0 / math.sqrt(config.number("query_pre_attn_scalar", default=256, above=0)),
        causal=not both_ways,
        cached=False,
    )
    window = config.size("sliding_window", default=4096) // (2 if both_ways else 1)
    every = config.size("sliding_window_pattern", default=6)
    options = config.layer_types(options, window, lambda layer: (layer + 1) % every > 0)
    full = config.number("rope_theta", default=1_000_000.0, above=0)
    sliding = config.number("rope_local_base_freq", default=10_000.0, above=0)
    return config.two_thetas(options, full, sliding)


def _scaled(options: Options) -> Options:
    scale = math.sqrt(options.hidden_size)
    return replace(options, norm=OneBasedRMSNorm, embedding_scale=scale)


NAMES3 = NAMES | {
    "after_attention": "post_attention_layernorm",
    "before_feed_forward": "pre_feedforward_layernorm",
    "after_feed_forward": "post_feedforward_layernorm",
}
ARCHITECTURES = {
    "gemma": Architecture(gemma, NAMES, "model.", HEADS),
    "gemma3_text": Architecture(gemma3, NAMES3, "model.", ("lm_head.", "score.")),
}
