"""The keys of config.json that encoders with rotary positions share."""

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from polybake.baking.encoders.architecture import EncoderConfig, Size
from polybake.baking.layers.rotary import frequencies
from polybake.base.files.known_keys import KnownKeys

Theta = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Factor = Annotated[float, Field(gt=0, allow_inf_nan=False)]
LayerType = Literal["full_attention", "sliding_attention"]


class Rope(KnownKeys):
    """``rope_parameters`` of transformers 5, or ``rope_scaling`` of transformers 4."""

    model_config = ConfigDict(frozen=True)
    # Other types' own.
    passed_over: ClassVar[Collection[str]] = ("factor", "original_max_position_embeddings")

    rope_theta: Theta | None = None
    rope_type: Literal["default"] = Field(
        default="default", validation_alias=AliasChoices("rope_type", "type")
    )
    partial_rotary_factor: float | None = Field(default=None, ge=1.0, le=1.0)


class RotaryConfig(EncoderConfig):
    """The configuration of every encoder with rotary positions."""

    intermediate_size: Size
    head_dim: Size | None = None

    @property
    def head_size(self) -> int:
        """Elements of one head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        if self.head_dim is None and self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is no multiple of "
                f"num_attention_heads {self.num_attention_heads}"
            )
        if self.head_size % 2:
            raise ValueError(
                f"head size {self.head_size} is odd; rotary positions turn pairs of elements"
            )
        return self


class OneThetaConfig(RotaryConfig):
    """All layers turn alike."""

    rope_theta: Theta = 10_000.0
    rope_parameters: Rope | None = None
    rope_scaling: Rope | None = None

    @property
    def theta(self) -> float:
        """The base of the frequencies."""
        given = self.rope_scaling or self.rope_parameters
        return (given and given.rope_theta) or self.rope_theta

    def frequencies(self) -> list[float]:
        """Radians per position of each pair."""
        return frequencies(self.head_size, self.theta)


class LayerTypesConfig(RotaryConfig):
    """Layers of two types: full attention, and attention within a sliding window."""

    layer_types: tuple[LayerType, ...] | None = None

    @model_validator(mode="after")
    def _every_layer_has_a_type(self) -> Self:
        if self.layer_types is not None and len(self.layer_types) != self.num_hidden_layers:
            raise ValueError(
                f"layer_types has {len(self.layer_types)} entries, expected "
                f"num_hidden_layers {self.num_hidden_layers}"
            )
        return self


class TwoThetasConfig(LayerTypesConfig):
    """A configuration with a theta for each type of layer."""

    rope_parameters: dict[LayerType, Rope | None] | None = None
    rope_scaling: None = None

    def theta(self, layer_type: LayerType, default: float) -> float:
        """The base of the frequencies of one type; ``default`` is the key of transformers 4."""
        given = (self.rope_parameters or {}).get(layer_type)
        return (given and given.rope_theta) or default
