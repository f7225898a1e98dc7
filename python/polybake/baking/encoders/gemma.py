"""Gemma: Llama with scaled tokens, norms around 1, and heads whose size is apart.

Source: transformers ``GemmaModel``, in evaluation.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.decoder import BiasedConfig, Decoder, DecoderConfig
from polybake.baking.layers.embedding import Embedding, ScaledEmbedding
from polybake.baking.layers.rms_norm import OneBasedRMSNorm, RMSNorm


class GemmaConfig(DecoderConfig, BiasedConfig):
    """Gemma's configuration."""

    embedding: ClassVar[type[Embedding]] = ScaledEmbedding
    norm: ClassVar[type[RMSNorm]] = OneBasedRMSNorm

    head_dim: Size | None = 256
    #: Gemma has one function, which its first files call "gelu".
    hidden_act: Annotated[
        Literal["gelu", "gelu_pytorch_tanh"], AfterValidator(lambda _: "gelu_tanh")
    ] = "gelu_pytorch_tanh"
    #: What some versions of transformers 4 read in its place.
    hidden_activation: Literal["gelu_pytorch_tanh"] | None = None


class Gemma(Decoder):
    """Gemma: token ids to token embeddings."""

    Config: ClassVar[type[GemmaConfig]] = GemmaConfig
