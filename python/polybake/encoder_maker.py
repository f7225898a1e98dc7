"""Who makes the graph of an encoder."""

from __future__ import annotations

from enum import StrEnum


class EncoderMaker(StrEnum):
    """Who makes the graph of a model folder's encoder."""

    NATIVE = "native"
    """polybake itself, for the architectures in `polybake.encoders`."""
    TORCH = "torch"
    """PyTorch's exporter, for any architecture that transformers has."""
