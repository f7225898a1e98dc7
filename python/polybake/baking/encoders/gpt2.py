"""GPT-2: a decoder with a table of positions, normalised before each block.

Source: transformers ``GPT2Model``.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.encoder_config import MOST_LAYERS
from polybake.baking.layers.linear import Conv1D


def gpt2(config: EncoderConfig) -> Options:
    """GPT-2's configuration."""
    # Another name of n_positions, and how scores are rounded.
    config.pass_over("n_ctx", "reorder_and_upcast_attn")
    config.only("scale_attn_weights", True)
    config.only("scale_attn_by_inverse_layer_idx", False)
    config.only("add_cross_attention", False)
    config.only("is_causal", True)
    hidden = config.size("n_embd", "hidden_size", default=768)
    wide = config.optional_size("n_inner") or 4 * hidden
    options = config.sizes(
        hidden_size=("n_embd", "hidden_size"),
        num_layers=("n_layer", "num_hidden_layers"),
        heads=("n_head", "num_attention_heads"),
        intermediate_size=wide,
        defaults={"vocab_size": 50257, "n_embd": 768, "n_layer": 12, "n_head": 12},
    )
    return replace(
        options,
        positions=config.size("n_positions", default=1024),
        activation=config.activation("activation_function", "gelu_new"),
        epsilon=config.epsilon("layer_norm_epsilon", default=1e-5),
        linear=Conv1D,
        norms="before",
        causal=True,
    )


NAMES = {
    "tokens": "wte",
    "positions": "wpe",
    "layer": "h.{}",
    "before_attention": "ln_1",
    "qkv": "attn.c_attn",
    "output": "attn.c_proj",
    "before_feed_forward": "ln_2",
    "widen": "mlp.c_fc",
    "down": "mlp.c_proj",
    "final_norm": "ln_f",
}
HEADS = ("lm_head.", "score.", "classifier.", "multiple_choice_head.", "qa_outputs.")
#: Masks that old checkpoints hold for each layer.
MASKS = [
    f"h.{layer}.attn.{mask}" for layer in range(MOST_LAYERS) for mask in ("bias", "masked_bias")
]
ARCHITECTURES = {"gpt2": Architecture(gpt2, NAMES, "transformer.", (*HEADS, *MASKS))}
