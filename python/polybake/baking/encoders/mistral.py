"""Mistral: layers attend within a sliding window, except for layers of the type "full".

Source: transformers ``MistralModel``, or ``MinistralModel`` where layers have types.
"""

from dataclasses import replace

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.config import EncoderConfig
from polybake.baking.encoders.decoder import HEADS, NAMES, decoder, is_causal
from polybake.baking.encoders.options import Options


def mistral(config: EncoderConfig) -> Options:
    """Mistral's configuration."""
    options = config.one_theta(decoder(config, biases=False), 10_000.0)
    window = config.optional_size("sliding_window", default=4096)
    options = config.layer_types(options, window, lambda _: True)
    return replace(options, causal=is_causal(config))


ARCHITECTURES = {"mistral": Architecture(mistral, NAMES, "model.", HEADS)}
