"""CLIP's text tower: token ids to one embedding of a text, in the space of its pictures.

Source: transformers ``CLIPModel.get_text_features`` and ``CLIPTextModelWithProjection``, in
evaluation.
"""

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Literal, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    EncoderConfig,
    Epsilon,
    HiddenAct,
    Layers,
    Size,
    check_heads,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, split_heads
from polybake.baking.layers.attention_window import AttentionWindow, window_bias
from polybake.baking.layers.embedding import Embedding, PositionEmbedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.pooling import choose_row

#: The key of the text tower in the config.json of both towers.
_TEXT = "text_config"
#: An older name of it; with its class's defaults it wins in transformers.
_OLDER = "text_config_dict"

#: Beside the usual: keys of the pictures' tower, and of what compares both.
_PASSED_OVER = PASSED_OVER - {"architectures"} | {
    *("vision_config", "vision_config_dict", "logit_scale_init_value"),
}


class TowerConfig(EncoderConfig):
    """The configuration of a text tower, alone or beside the pictures' tower."""

    passed_over: ClassVar[Collection[str]] = _PASSED_OVER

    architectures: tuple[str, ...] | None = None
    intermediate_size: Size
    max_position_embeddings: Size

    @model_validator(mode="before")
    @classmethod
    def _of_the_text(cls, given: Any) -> Any:
        """Take the text tower's keys out of their object; those of both towers win."""
        if not isinstance(given, Mapping) or _TEXT not in given:
            return given
        text, older = given[_TEXT] or {}, given.get(_OLDER) or {}
        if not isinstance(text, Mapping) or not isinstance(older, Mapping):
            raise ValueError(f"{_TEXT} and {_OLDER} are objects or null")
        if older:
            text = {key: value for key, value in text.items() if key not in cls.model_fields}
        own = {key: value for key, value in {**text, **older}.items() if key not in cls.of_both()}
        both = {key: value for key, value in given.items() if key not in (_TEXT, _OLDER)}
        return {**both, **own}

    @classmethod
    def of_both(cls) -> Collection[str]:
        """The keys that count beside ``text_config`` and not within."""
        return ("model_type", "architectures")

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        check_heads(self)
        return self


class ClipConfig(TowerConfig):
    """CLIP's configuration."""

    vocab_size: Size = 49408
    hidden_size: Size = 512
    intermediate_size: Size = 2048
    num_hidden_layers: Layers = 12
    num_attention_heads: Size = 8
    max_position_embeddings: Size = 77
    hidden_act: HiddenAct = "quick_gelu"
    layer_norm_eps: Epsilon = 1e-5
    projection_dim: Size = 512
    eos_token_id: int = 49407
    is_causal: Literal[True] = True  # type: ignore[assignment] # others refuse it
    passed_over: ClassVar[Collection[str]] = _PASSED_OVER - {"eos_token_id"}

    @classmethod
    def of_both(cls) -> Collection[str]:
        """The keys that count beside ``text_config`` and not within."""
        return (*super().of_both(), "projection_dim")

    @property
    def projects(self) -> bool:
        """Whether a layer behind the text tower maps into the pictures' space."""
        names = self.architectures or ("CLIPModel",)
        return not names[0].endswith("CLIPTextModel")

    @property
    def output_size(self) -> int:
        """Elements of a text's embedding."""
        return self.projection_dim if self.projects else self.hidden_size


class Embeddings(nn.Module):
    """Tables of tokens and of their places."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.token_embedding = Embedding(config.vocab_size, config.hidden_size)
        rows = config.max_position_embeddings
        self.position_embedding = PositionEmbedding(rows, config.hidden_size)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        places = self.position_embedding(op, input_ids)
        return op.Add(self.token_embedding(op, input_ids), places)


class Attention(nn.Module):
    """Attention of several heads."""

    def __init__(self, config: TowerConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // self.heads
        size = config.hidden_size
        self.q_proj, self.k_proj = Linear(size, size), Linear(size, size)
        self.v_proj, self.out_proj = Linear(size, size), Linear(size, size)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, layer(op, x), self.heads, self.head_size)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.out_proj(op, mixed)


class FeedForward(nn.Module):
    """Two linear layers with an activation between them."""

    def __init__(self, config: TowerConfig, activation: str) -> None:
        super().__init__()
        self.fc1 = Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = Linear(config.intermediate_size, config.hidden_size)
        self.activation = activation

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        return self.fc2(op, ACTIVATIONS[self.activation].build(op, self.fc1(op, x)))


class Layer(nn.Module):
    """One layer, normalised before each block."""

    def __init__(self, config: TowerConfig, activation: str, epsilon: float) -> None:
        super().__init__()
        self.layer_norm1 = LayerNorm(config.hidden_size, epsilon)
        self.self_attn = Attention(config)
        self.layer_norm2 = LayerNorm(config.hidden_size, epsilon)
        self.mlp = FeedForward(config, activation)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = op.Add(x, self.self_attn(op, self.layer_norm1(op, x), bias))
        return op.Add(x, self.mlp(op, self.layer_norm2(op, x)))


class Tower(nn.Module):
    """Layers under the checkpoint's name ``encoder.layers``."""

    def __init__(self, config: TowerConfig, activation: str, epsilon: float) -> None:
        super().__init__()
        count = config.num_hidden_layers
        self.layers = nn.ModuleList([Layer(config, activation, epsilon) for _ in range(count)])

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.layers:
            x = layer(op, x, bias)
        return x


class Clip(Architecture):
    """CLIP: token ids to one embedding a text, of the token that ends it."""

    Config: ClassVar[type[ClipConfig]] = ClipConfig
    pooled: ClassVar[bool] = True
    prefix: ClassVar[str] = "text_model."
    ignored: ClassVar[tuple[str, ...]] = (
        *("vision_model.", "visual_projection.", "logit_scale", "embeddings.position_ids"),
    )

    def __init__(self, config: ClipConfig) -> None:
        super().__init__(config)
        self.config = config
        size, epsilon = config.hidden_size, config.layer_norm_eps
        self.embeddings = Embeddings(config)
        self.encoder = Tower(config, config.hidden_act, epsilon)
        self.final_layer_norm = LayerNorm(size, epsilon)
        self.text_projection = (
            Linear(size, config.projection_dim, bias=False) if config.projects else None
        )

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, size]``."""
        bias = window_bias(op, attention_mask, AttentionWindow(after=0))
        x = self.encoder(op, self.embeddings(op, input_ids), bias)
        ends = choose_row(op, x, self._end(op, input_ids, attention_mask))
        pooled = self.final_layer_norm(op, ends)
        return pooled if self.text_projection is None else self.text_projection(op, pooled)

    def _end(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """The place of the first token that ends the text, int64 ``[batch, 1]``.

        Old configurations have a wrong id, 2; there it is the first token of the largest id.
        """
        known = self.config.eos_token_id != _OLD_END
        kept = op.Equal(input_ids, self.config.eos_token_id) if known else input_ids
        kept = op.Mul(op.Cast(kept, to=ir.DataType.INT64), attention_mask)
        return op.ArgMax(op.Cast(kept, to=ir.DataType.INT32), axis=1, keepdims=1)


#: See transformers' pull request 24773.
_OLD_END = 2
