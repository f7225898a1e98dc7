"""Mistral: every layer attends within one sliding window.

Source: transformers ``MistralModel``, in evaluation.
"""

from __future__ import annotations

from typing import ClassVar

from polybake.encoders.architecture import Size
from polybake.encoders.decoder import Decoder, DecoderConfig


class MistralConfig(DecoderConfig):
    """Mistral's configuration."""

    sliding_window: Size | None = 4096

    def windows(self) -> list[int | None]:
        """Each layer's sliding window; None where there is none."""
        return [self.sliding_window] * self.num_hidden_layers


class Mistral(Decoder):
    """Mistral: token ids to token embeddings."""

    Config: ClassVar[type[MistralConfig]] = MistralConfig
