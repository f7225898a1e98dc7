"""Llama, also attending to both sides as NVIDIA's embedding models and rerankers have it.

Source: transformers ``LlamaModel``; ``LlamaBidirectionalModel`` of NVIDIA's models.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from pydantic import Field, TypeAdapter

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig, Rope
from polybake.baking.encoders.decoder import HEADS, NAMES, decoder, is_causal
from polybake.baking.encoders.options import Options
from polybake.baking.layers.rotary import frequencies, stretched

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


def llama(config: EncoderConfig, also: Mapping[str, bool] | None = None) -> Options:
    """Llama's configuration."""
    config.only("mlp_bias", False)
    options = decoder(config, groups=False)
    theta = config.number("rope_theta", default=10_000.0, above=0)
    ropes = [config.rope(key, "llama3") for key in ("rope_scaling", "rope_parameters")]
    factors = [_factors(rope) for rope in ropes if rope is not None]
    given = ropes[0] or ropes[1]
    turns = frequencies(options.head_size, (given and given.theta) or theta)
    if factors and factors[0]:
        turns = stretched(turns, **factors[0])
    return replace(config.turned(options, turns), causal=is_causal(config, also))


def _factors(rope: Rope) -> dict[str, float]:
    """Llama 3's frequencies: slow ones are divided, and those between slow and fast in part.

    Raises:
        InputError: One of their keys is missing, or nothing lies between slow and fast.
    """
    values = {key: rope.settings.value(_FACTOR, key, default=None) for key in _LLAMA3}
    missing = [key for key, value in values.items() if value is None]
    if rope.kind == "llama3" and missing:
        raise rope.settings.refused(f"llama3 needs {', '.join(missing)}")
    low, high = values["low_freq_factor"], values["high_freq_factor"]
    if low is not None and low == high:
        raise rope.settings.refused(f"low_freq_factor and high_freq_factor are both {low}")
    kept = values if rope.kind == "llama3" else {}
    return {_LLAMA3[key]: value for key, value in kept.items() if value is not None}


def bidirec(config: EncoderConfig) -> Options:
    """The configuration of NVIDIA's class; ``pooling`` and ``temperature`` belong to its head."""
    config.pass_over("pooling")
    return llama(config, {"model_type": False})


CODE = ("LlamaBidirectional",)
ARCHITECTURES = {
    "llama": Architecture(llama, NAMES, "model.", HEADS),
    "llama_bidirec": Architecture(bidirec, NAMES, "model.", HEADS, own_code=CODE),
}
