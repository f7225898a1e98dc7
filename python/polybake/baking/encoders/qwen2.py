"""Qwen2: biases on queries, keys and values; sliding windows from a layer on.

Source: transformers ``Qwen2Model``, in evaluation.
"""

from typing import ClassVar

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.decoder import Decoder, DecoderConfig
from polybake.baking.encoders.rotary_config import LayerTypesConfig


class Qwen2Config(DecoderConfig, LayerTypesConfig):
    """Qwen2's configuration."""

    use_sliding_window: bool = False
    sliding_window: Size | None = 4096
    max_window_layers: int = 28

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have a bias."""
        return True

    def windows(self) -> list[int | None]:
        """Return the sliding window of each layer; None for a layer without a window."""
        window = self.sliding_window if self.use_sliding_window else None
        types = self.layer_types or [
            "full_attention" if layer < self.max_window_layers else "sliding_attention"
            for layer in range(self.num_hidden_layers)
        ]
        return [window if kind == "sliding_attention" else None for kind in types]


class Qwen2(Decoder):
    """Qwen2: token ids to token embeddings."""

    Config: ClassVar[type[Qwen2Config]] = Qwen2Config
