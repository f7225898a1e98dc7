"""Llama, also attending to both sides as NVIDIA's embedding models and rerankers have it.

Source: transformers ``LlamaModel``, in evaluation; ``LlamaBidirectionalModel`` of NVIDIA's models.
"""

from collections.abc import Collection
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from polybake.baking.encoders.decoder import (
    BiasedConfig,
    Decoder,
    DecoderConfig,
    every_head_has_its_own,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_config import Factor, Rope
from polybake.baking.layers.rotary import stretched


class LlamaRope(Rope):
    """Llama 3's frequencies: slow ones are divided, and those between slow and fast in part."""

    passed_over: ClassVar[Collection[str]] = ()

    rope_type: Literal["default", "llama3"] = Field(  # type: ignore[assignment] # one more
        default="default", validation_alias=Rope.model_fields["rope_type"].validation_alias
    )
    factor: Factor | None = None
    low_freq_factor: Factor | None = None
    high_freq_factor: Factor | None = None
    original_max_position_embeddings: Factor | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        keys = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
        missing = [key for key in keys if getattr(self, key) is None]
        if self.rope_type == "llama3" and missing:
            raise ValueError(f"llama3 needs {', '.join(missing)}")
        if self.low_freq_factor is not None and self.low_freq_factor == self.high_freq_factor:
            raise ValueError(
                f"low_freq_factor and high_freq_factor are both {self.low_freq_factor}"
            )
        return self


class LlamaConfig(DecoderConfig, BiasedConfig):
    """Llama's configuration."""

    mlp_bias: Literal[False] = False
    rope_parameters: LlamaRope | None = None
    rope_scaling: LlamaRope | None = None

    _every_head_has_its_own = model_validator(mode="before")(every_head_has_its_own)

    def frequencies(self) -> list[float]:
        """Radians per position of each pair."""
        plain, rope = super().frequencies(), self.rope_scaling or self.rope_parameters
        if rope is None or rope.rope_type == "default":
            return plain
        return stretched(
            plain,
            factor=rope.factor or 1.0,
            low=rope.low_freq_factor or 1.0,
            high=rope.high_freq_factor or 1.0,
            length=rope.original_max_position_embeddings or 1.0,
        )


class LlamaBidirecConfig(LlamaConfig):
    """The configuration of NVIDIA's class; ``pooling`` and ``temperature`` belong to its head."""

    own_code: ClassVar[str | None] = "LlamaBidirectional"
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {"pooling"}
    named_both_ways: ClassVar[bool] = True


class Llama(Decoder):
    """Llama: token ids to token embeddings."""

    Config: ClassVar[type[LlamaConfig]] = LlamaConfig


class LlamaBidirec(Llama):
    """Llama whose tokens attend to both sides."""

    Config: ClassVar[type[LlamaConfig]] = LlamaBidirecConfig
