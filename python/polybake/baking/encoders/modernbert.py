"""ModernBERT: layers of full attention among layers that attend within a local window.

Source: transformers ``ModernBertModel``.
"""

from dataclasses import replace
from functools import partial

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.options import DOWN, INPUTS, OUTPUT, UP
from polybake.baking.layers.norms import LayerNorm

_UNBIASED = partial(LayerNorm, bias=False)


def modernbert(config: EncoderConfig) -> Options:
    """ModernBERT's configuration; half the window lies to each side."""
    # Heads' own, which their weights decide; and what transformers writes and does not read.
    config.pass_over("classifier_activation", "classifier_bias", "classifier_pooling")
    config.pass_over("decoder_bias", "deterministic_flash_attn", "repad_logits_with_grad")
    config.pass_over("sparse_pred_ignore_index", "sparse_prediction")
    config.pass_over("layer_norm_eps", "position_embedding_type")
    options = config.rotary_sizes()
    hidden, heads = options.hidden_size, options.heads
    if options.head_size * heads != hidden:
        raise config.refused(
            f"head_dim {options.head_size} is not supported, only hidden_size {hidden} / "
            f"num_attention_heads {heads}"
        )
    options = replace(
        options,
        activation=config.activation("hidden_activation"),
        epsilon=config.epsilon("norm_eps", default=1e-5),
        norm=LayerNorm if config.flag("norm_bias") else _UNBIASED,
        norms="before",
        first_norm=False,
        gated=True,
        biases=config.biases(attention_bias=INPUTS | OUTPUT, mlp_bias=UP | DOWN),
    )
    local = config.size("local_attention", default=128) // 2
    window = config.optional_size("sliding_window") or local
    every = config.size("global_attn_every_n_layers", default=3)
    options = config.layer_types(options, window, lambda layer: layer % every > 0)
    full = config.number("global_rope_theta", default=160_000.0, above=0)
    sliding = config.number("local_rope_theta", default=10_000.0, above=0)
    return config.two_thetas(options, full, sliding)


NAMES = {
    "tokens": "embeddings.tok_embeddings",
    "embedding_norm": "embeddings.norm",
    "layer": "layers.{}",
    "before_attention": "attn_norm",
    "qkv": "attn.Wqkv",
    "output": "attn.Wo",
    "before_feed_forward": "mlp_norm",
    "gate_up": "mlp.Wi",
    "down": "mlp.Wo",
    "final_norm": "final_norm",
}
HEADS = ("head.", "decoder.", "classifier.", "qa_outputs.")
ARCHITECTURES = {"modernbert": Architecture(modernbert, NAMES, "model.", HEADS)}
