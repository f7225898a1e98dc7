"""The decoder that Llama, Mistral, Qwen2, Qwen3, Gemma and EuroBERT are variants of.

A token attends to itself and those before it, unless a key of config.json, the model's name or the
user says that it attends to both sides.
"""

import json
from collections.abc import Mapping
from dataclasses import replace

from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.options import INPUTS, OUTPUT, Options
from polybake.baking.layers.norms import RMSNorm
from polybake.errors import InputError

_OWN_CODE = (
    "no code of a model is run: where it only says what tokens attend to, say below [model] in "
    'polybake.toml: attention = "both", or attention = "causal"'
)

NAMES = {
    "tokens": "embed_tokens",
    "layer": "layers.{}",
    "before_attention": "input_layernorm",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "query_norm": "self_attn.q_norm",
    "key_norm": "self_attn.k_norm",
    "before_feed_forward": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
    "final_norm": "norm",
    "projection": "linear",
}
HEADS = ("lm_head.", "score.", "qa_outputs.")


def decoder(
    config: EncoderConfig,
    *,
    head_dim: int | None = None,
    epsilon: float = 1e-6,
    activation: tuple[str, str] = ("hidden_act", "silu"),
    groups: bool = True,
    biases: bool = True,
) -> Options:
    """Read what all variants share.

    Args:
        config: The configuration.
        head_dim: The default of this key.
        epsilon: The default of the norms' epsilon.
        activation: The activation's key, and its default.
        groups: Whether the file must say how many heads have keys and values of their own.
        biases: Whether a key says that attention has biases.

    Raises:
        InputError: Heads cannot share keys and values.
    """
    options = config.rotary_sizes(head_dim=head_dim)
    if groups:
        shared: int | None = config.size("num_key_value_heads")
    else:
        shared = config.optional_size("num_key_value_heads")
    if shared is not None and options.heads % shared:
        raise config.refused(
            f"num_attention_heads {options.heads} is no multiple of num_key_value_heads {shared}"
        )
    return replace(
        options,
        key_value_heads=shared,
        epsilon=config.epsilon("rms_norm_eps", default=epsilon),
        norm=RMSNorm,
        norms="before",
        embedding_norm=False,
        final_norm=True,
        biases=config.biases(attention_bias=INPUTS | OUTPUT) if biases else frozenset(),
        activation=config.activation(*activation),
        gated=True,
        cached=True,
    )


def is_causal(config: EncoderConfig, also: Mapping[str, bool] | None = None) -> bool:
    """Read whether a token attends to itself and those before it alone.

    ``also`` has other keys that say it, and what they say.

    Raises:
        InputError: Two keys, or a key and the user, contradict each other.
    """
    config.hints["auto_map"] = _OWN_CODE
    causal, said = config.flag("is_causal", default=True), {}
    if "is_causal" in config.values:
        said["is_causal"] = causal
    # Read by transformers for Gemma alone, else by the code of models that were trained so.
    both_ways = config.optional_flag("use_bidirectional_attention")
    if both_ways is not None:
        said["use_bidirectional_attention"] = not both_ways
    said |= also or {}
    if len({*said.values()}) > 1:
        raise config.refused(
            f"{' and '.join(said)} contradict each other; keep what the model was trained with"
        )
    attention = config.choices.pop("attention", None)
    if attention is None:
        return all(said.values())
    # The code that it names says this, or the user would not have to.
    config.pass_over("auto_map")
    for key, value in said.items():
        if value != (attention == "causal"):
            raise InputError(
                f"{config.path}: {key} contradicts attention = {json.dumps(attention)} in "
                "polybake.toml; leave one out"
            )
    return attention == "causal"
