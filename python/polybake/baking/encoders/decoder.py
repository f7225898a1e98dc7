"""The decoder that most language models are variants of, Llama, Mistral and EuroBERT among them.

A token attends to itself and those before it, unless a key of config.json, the model's name or the
user says that it attends to both sides; EuroBERT's attend to both.

Source: transformers ``LlamaModel``, ``MistralModel``, ``MinistralModel`` where layers have types,
and ``EuroBertModel``; ``LlamaBidirectionalModel`` of NVIDIA's embedding models and rerankers.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, TypeAdapter

from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options
from polybake.baking.encoders.encoder_config import Rope
from polybake.baking.encoders.options import INPUTS, OUTPUT
from polybake.baking.layers.norms import RMSNorm
from polybake.baking.layers.rotary import frequencies, stretched
from polybake.errors import InputError

_FACTOR: TypeAdapter[float | None] = TypeAdapter(
    Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
)
#: The keys of Llama 3's frequencies, and what `stretched` calls them.
_LLAMA3 = {
    "factor": "factor",
    "low_freq_factor": "low",
    "high_freq_factor": "high",
    "original_max_position_embeddings": "length",
}
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

    ``head_dim``, ``epsilon`` and the second ``activation`` are the defaults of keys. The file must
    say how many heads have keys and values if there may be ``groups``. ``biases`` have a key.
    """
    options = config.rotary_sizes(head_dim=head_dim)
    default = None if groups else config.optional_size("num_key_value_heads") or options.heads
    shared = default or config.size("num_key_value_heads")
    if options.heads % shared:
        raise config.refused(
            f"num_attention_heads {options.heads} is no multiple of num_key_value_heads {shared}"
        )
    return replace(
        options,
        key_value_heads=shared,
        epsilon=config.epsilon("rms_norm_eps", default=epsilon),
        norm=RMSNorm,
        norms="before",
        biases=config.biases(attention_bias=INPUTS | OUTPUT) if biases else frozenset(),
        activation=config.activation(*activation),
        gated=True,
        cached=True,
    )


def is_causal(config: EncoderConfig, also: Mapping[str, bool] | None = None) -> bool:
    """Read whether a token attends to itself and those before it alone.

    ``also`` has other keys that say it, and what they say.
    """
    config.hints["auto_map"] = _OWN_CODE
    causal, flags = config.flag("is_causal", default=True), {}
    if "is_causal" in config.values:
        flags["is_causal"] = causal
    # Read by transformers for Gemma alone, else by the code of models that were trained so.
    both_ways = config.optional_flag("use_bidirectional_attention")
    if both_ways is not None:
        flags["use_bidirectional_attention"] = not both_ways
    flags |= also or {}
    if len({*flags.values()}) > 1:
        raise config.refused(
            f"{' and '.join(flags)} contradict each other; keep what the model was trained with"
        )
    attention = config.choices.pop("attention", None)
    if attention is None:
        return all(flags.values())
    # The code that it names says this, or the user would not have to.
    config.pass_over("auto_map")
    for key, value in flags.items():
        if value != (attention == "causal"):
            raise InputError(
                f"{config.path}: {key} contradicts attention = {json.dumps(attention)} in "
                "polybake.toml; leave one out"
            )
    return attention == "causal"


def llama(config: EncoderConfig, also: Mapping[str, bool] | None = None) -> Options:
    """Llama's configuration."""
    config.only("mlp_bias", False)
    options = decoder(config, groups=False)
    theta = config.number("rope_theta", default=10_000.0, above=0)
    ropes = [config.rope(key, "llama3") for key in ("rope_scaling", "rope_parameters")]
    factors = [_factors(rope) for rope in ropes if rope is not None]
    first = ropes[0] or ropes[1]
    turns = frequencies(options.head_size, (first and first.theta) or theta)
    if factors and factors[0]:
        turns = stretched(turns, **factors[0])
    return replace(config.turned(options, turns), causal=is_causal(config, also))


def _factors(rope: Rope) -> dict[str, float]:
    """Llama 3's frequencies: slow ones are divided, and those between slow and fast in part."""
    values = {key: rope.settings.value(_FACTOR, key, default=None) for key in _LLAMA3}
    factors = {_LLAMA3[key]: value for key, value in values.items() if value is not None}
    low = factors.get("low")
    if low is not None and low == factors.get("high"):
        raise rope.settings.refused(f"low_freq_factor and high_freq_factor are both {low}")
    if rope.kind != "llama3":
        return {}
    if len(factors) < len(_LLAMA3):
        missing = ", ".join(key for key, value in values.items() if value is None)
        raise rope.settings.refused(f"llama3 needs {missing}")
    return factors


def bidirec(config: EncoderConfig) -> Options:
    """The configuration of NVIDIA's class; ``pooling`` and ``temperature`` belong to its head."""
    config.pass_over("pooling")
    return llama(config, {"model_type": False})


def mistral(config: EncoderConfig) -> Options:
    """Mistral's configuration."""
    options = config.one_theta(decoder(config, biases=False), 10_000.0)
    window = config.optional_size("sliding_window", default=4096)
    options = config.layer_types(options, window, lambda _: True)
    return replace(options, causal=is_causal(config))


def eurobert(config: EncoderConfig) -> Options:
    """EuroBERT's configuration."""
    # What a head pools, and the texts of tokens.
    config.pass_over("classifier_pooling", "clf_pooling")
    config.pass_over("bos_token", "eos_token", "mask_token", "pad_token")
    config.only("mlp_bias", False)
    return config.one_theta(decoder(config, epsilon=1e-5, groups=False), 10_000.0)


BIDIREC = ("LlamaBidirectional",)
ENCODER_HEADS = ("lm_head.", "dense.", "classifier.")
ARCHITECTURES = {
    "eurobert": Architecture(eurobert, NAMES, "model.", ENCODER_HEADS, own_code=("EuroBert",)),
    "llama": Architecture(llama, NAMES, "model.", HEADS),
    "llama_bidirec": Architecture(bidirec, NAMES, "model.", HEADS, own_code=BIDIREC),
    "mistral": Architecture(mistral, NAMES, "model.", HEADS),
}
