"""Qwen2: biases on queries, keys and values; sliding windows from a layer on.

Qwen3 has normalised heads, whose size is apart from the hidden size. Perplexity's class of it
attends to both sides, and so does Voyage's, which ends in a linear layer.

Source: transformers ``Qwen2Model`` and ``Qwen3Model``; ``PPLXQwen3Model`` of
perplexity-ai/pplx-embed-v1; ``Qwen3BidirectionalModel`` of voyage-4-nano.
"""

from collections.abc import Mapping
from dataclasses import replace

from pydantic import TypeAdapter

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.decoder import HEADS, NAMES, decoder, is_causal
from polybake.baking.encoders.encoder_config import EncoderConfig
from polybake.baking.encoders.options import INPUTS, Options

_CLASSES: TypeAdapter[tuple[str, ...] | None] = TypeAdapter(tuple[str, ...] | None)

#: Voyage's class.
_BOTH_WAYS = "Qwen3BidirectionalModel"


def qwen2(config: EncoderConfig) -> Options:
    """Qwen2's configuration."""
    options = replace(decoder(config, biases=False), biases=INPUTS)
    return _qwen(config, options, {})


def qwen3(config: EncoderConfig, also: Mapping[str, bool] | None = None) -> Options:
    """Qwen3's configuration."""
    classes = config.value(_CLASSES, "architectures", default=None) or ()
    code = config.values.get("auto_map")
    named = map(str, code.values()) if isinstance(code, Mapping) else ()
    both_ways = any(name.endswith(_BOTH_WAYS) for name in (*classes, *named))
    labels = config.optional_size("num_labels")
    options = replace(
        decoder(config, head_dim=128),
        head_norm="each",
        projection=labels if both_ways else None,
    )
    return _qwen(
        config, options, {**(also or {}), **({"architectures": False} if both_ways else {})}
    )


def _qwen(config: EncoderConfig, options: Options, also: Mapping[str, bool]) -> Options:
    """Read the keys that both have."""
    size = config.optional_size("sliding_window", default=4096)
    window = size if config.flag("use_sliding_window") else None
    full = config.integer("max_window_layers", default=28)
    options = config.layer_types(options, window, lambda layer: layer >= full)
    return replace(config.one_theta(options, 10_000.0), causal=is_causal(config, also))


def pplx(config: EncoderConfig) -> Options:
    """The configuration of Perplexity's class, whose name says that it attends to both sides."""
    return qwen3(config, {"model_type": False})


PPLX = ("PPLXQwen3Model", "PPLXQwen3Config")
ARCHITECTURES = {
    "qwen2": Architecture(qwen2, NAMES, "model.", HEADS),
    "qwen3": Architecture(qwen3, NAMES, "model.", HEADS, own_code=("Qwen3Bidirectional",)),
    "bidirectional_pplx_qwen3": Architecture(pplx, NAMES, "model.", HEADS, own_code=PPLX),
}
