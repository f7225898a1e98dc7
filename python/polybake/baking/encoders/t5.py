"""T5's encoder: unscaled attention with a relative bias, normalised before each block.

Source: transformers ``T5EncoderModel``, in evaluation.
"""

from collections.abc import Collection
from typing import Annotated, ClassVar, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    EncoderConfig,
    Epsilon,
    HiddenAct,
    Layers,
    Size,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.relative_bias import RelativeBias
from polybake.baking.layers.rms_norm import RMSNorm

#: ``feed_forward_proj`` to our name of its activation.
_PLAIN = {"relu": "relu", "gelu": "gelu", "gelu_new": "gelu_tanh", "silu": "silu"}
#: Gated, ``gelu`` is the approximation: T5 v1.1 was trained so.
_GATED = {"gated-gelu": "gelu_tanh", "gated-relu": "relu", "gated-silu": "silu"}
_ACTIVATIONS = _PLAIN | _GATED


def _known_projection(name: str) -> str:
    if name not in _ACTIVATIONS:
        raise ValueError(f"unknown {name!r}; known are: {', '.join(_ACTIVATIONS)}")
    return name


class T5Config(EncoderConfig):
    """T5's configuration; its keys have names of their own."""

    hidden_size: Size = Field(alias="d_model")
    num_hidden_layers: Layers = Field(alias="num_layers")
    num_attention_heads: Size = Field(alias="num_heads")
    head_size: Size = Field(alias="d_kv")
    intermediate_size: Size = Field(alias="d_ff")
    layer_norm_epsilon: Epsilon = 1e-6
    feed_forward_proj: Annotated[str, AfterValidator(_known_projection)] = "relu"
    #: transformers writes these beside feed_forward_proj, and obeys them where they differ.
    dense_act_fn: HiddenAct | None = None
    is_gated_act: bool | None = None
    relative_attention_num_buckets: Annotated[int, Field(ge=4, le=4096, strict=True)] = 32
    relative_attention_max_distance: Annotated[int, Field(gt=0, le=2**20, strict=True)] = 128

    # The decoder's, and a length that no table has.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("is_encoder_decoder", "num_decoder_layers", "scale_decoder_outputs", "n_positions"),
    }

    @field_validator("dense_act_fn", "is_gated_act")
    @classmethod
    def _agrees(cls, value: object, info: ValidationInfo) -> object:
        projection = info.data.get("feed_forward_proj", "")
        if value not in (None, _ACTIVATIONS.get(projection), projection in _GATED):
            raise ValueError(f"should agree with feed_forward_proj {projection!r}")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.relative_attention_max_distance <= self.relative_attention_num_buckets // 4:
            raise ValueError(
                f"relative_attention_max_distance {self.relative_attention_max_distance} leaves "
                "no distance for the wider half of the buckets"
            )
        return self

    @property
    def gated(self) -> bool:
        """Whether the feed-forward layer is widened twice, and multiplied."""
        return self.feed_forward_proj in _GATED

    @property
    def activation(self) -> str:
        """The key of `polybake.baking.layers.activations.ACTIVATIONS`."""
        return _ACTIVATIONS[self.feed_forward_proj]


class SelfAttention(nn.Module):
    """Attention without a scale, and its output layer; the first one has the position bias."""

    def __init__(self, config: T5Config, *, first: bool) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.head_size
        inner = self.heads * self.head_size
        self.q = Linear(config.hidden_size, inner, bias=False)
        self.k = Linear(config.hidden_size, inner, bias=False)
        self.v = Linear(config.hidden_size, inner, bias=False)
        self.o = Linear(inner, config.hidden_size, bias=False)
        self.relative_attention_bias = (
            RelativeBias(
                self.heads,
                config.relative_attention_num_buckets,
                config.relative_attention_max_distance,
            )
            if first
            else None
        )

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; also give the layers' bias."""
        if self.relative_attention_bias is not None:
            bias = op.Add(self.relative_attention_bias(op, x), bias)
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.q, self.k, self.v)
        )
        mixed = attend(
            op, query, key, value, bias, heads=self.heads, head_size=self.head_size, scale=1.0
        )
        return self.o(op, mixed), bias


class AttentionBlock(nn.Module):
    """Attention over normalised vectors, added to them."""

    def __init__(self, config: T5Config, *, first: bool) -> None:
        super().__init__()
        self.SelfAttention = SelfAttention(config, first=first)
        self.layer_norm = RMSNorm(config.hidden_size, config.layer_norm_epsilon)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; also give the layers' bias."""
        mixed, bias = self.SelfAttention(op, self.layer_norm(op, x), bias)
        return op.Add(x, mixed), bias


class Dense(nn.Module):
    """Widen, activate and narrow each token's vector."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.wi = Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.wo = Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        return self.wo(op, self.activation.build(op, self.wi(op, x)))


class GatedDense(nn.Module):
    """Widen twice, once activated, multiply, and narrow."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.wi_0 = Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.wi_1 = Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.wo = Linear(config.intermediate_size, config.hidden_size, bias=False)
        self.activation = ACTIVATIONS[config.activation]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        gate = self.activation.build(op, self.wi_0(op, x))
        return self.wo(op, op.Mul(gate, self.wi_1(op, x)))


class FeedForwardBlock(nn.Module):
    """The feed-forward layer over normalised vectors, added to them."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.DenseReluDense = GatedDense(config) if config.gated else Dense(config)
        self.layer_norm = RMSNorm(config.hidden_size, config.layer_norm_epsilon)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return op.Add(x, self.DenseReluDense(op, self.layer_norm(op, x)))


class Block(nn.Module):
    """One transformer layer."""

    def __init__(self, config: T5Config, *, first: bool) -> None:
        super().__init__()
        self.layer = nn.ModuleList([AttentionBlock(config, first=first), FeedForwardBlock(config)])

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; also give the layers' bias."""
        x, bias = self.layer[0](op, x, bias)
        return self.layer[1](op, x), bias


class Stack(nn.Module):
    """The layers, one after another, and the last normalisation."""

    def __init__(self, config: T5Config) -> None:
        super().__init__()
        self.block = nn.ModuleList(
            [Block(config, first=number == 0) for number in range(config.num_hidden_layers)]
        )
        self.final_layer_norm = RMSNorm(config.hidden_size, config.layer_norm_epsilon)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for block in self.block:
            x, bias = block(op, x, bias)
        return self.final_layer_norm(op, x)


class T5(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[T5Config]] = T5Config
    prefix: ClassVar[str] = ""
    #: ``encoder.embed_tokens`` is ``shared`` once more.
    ignored: ClassVar[tuple[str, ...]] = (
        *("decoder.", "lm_head.", "encoder.embed_tokens."),
        *("classification_head.", "classifier.", "qa_outputs."),
    )

    def __init__(self, config: T5Config) -> None:
        super().__init__(config)
        self.shared = Embedding(config.vocab_size, config.hidden_size)
        self.encoder = Stack(config)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        return self.encoder(op, self.shared(op, input_ids), padding_bias(op, attention_mask))
