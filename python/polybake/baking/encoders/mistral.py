"""Mistral: layers attend within a sliding window, except for layers of the type "full".

Source: transformers ``MistralModel``, or ``MinistralModel`` where layers have types, in evaluation.
"""

from typing import ClassVar

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.decoder import Decoder, DecoderConfig
from polybake.baking.encoders.rotary_config import LayerTypesConfig


class MistralConfig(DecoderConfig, LayerTypesConfig):
    """Mistral's configuration."""

    sliding_window: Size | None = 4096

    def windows(self) -> list[int | None]:
        """Return the sliding window of each layer; None for a layer without a window."""
        types = self.layer_types or ["sliding_attention"] * self.num_hidden_layers
        return [self.sliding_window if kind == "sliding_attention" else None for kind in types]


class Mistral(Decoder):
    """Mistral: token ids to token embeddings."""

    Config: ClassVar[type[MistralConfig]] = MistralConfig
