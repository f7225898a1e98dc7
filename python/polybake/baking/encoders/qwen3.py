"""Qwen3: Qwen2 with normalised heads, whose size is apart from the hidden size.

Source: transformers ``Qwen3Model``, in evaluation.
"""

from typing import ClassVar

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.decoder import Decoder
from polybake.baking.encoders.qwen2 import Qwen2Config
from polybake.baking.layers.rms_norm import RMSNorm


class Qwen3Config(Qwen2Config):
    """Qwen3's configuration."""

    head_norm: ClassVar[type[RMSNorm] | None] = RMSNorm

    head_dim: Size | None = 128
    attention_bias: bool = False

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have a bias."""
        return self.attention_bias

    @property
    def output_bias(self) -> bool:
        """Whether the mixed values' layer has a bias."""
        return self.attention_bias


class Qwen3(Decoder):
    """Qwen3: token ids to token embeddings."""

    Config: ClassVar[type[Qwen3Config]] = Qwen3Config
