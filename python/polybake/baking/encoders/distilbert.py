"""DistilBERT: a BERT without token types, under names of its own.

Source: transformers ``DistilBertModel``, in evaluation.
"""

from collections.abc import Collection
from typing import ClassVar, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import Field, model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    EncoderConfig,
    HiddenAct,
    Layers,
    Size,
    check_heads,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding, PositionEmbedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.stack import Stack

_EPSILON = 1e-12


class DistilBertConfig(EncoderConfig):
    """DistilBERT's configuration; its keys have names of their own."""

    hidden_size: Size = Field(alias="dim")
    num_hidden_layers: Layers = Field(alias="n_layers")
    num_attention_heads: Size = Field(alias="n_heads")
    intermediate_size: Size = Field(alias="hidden_dim")
    hidden_act: HiddenAct = Field(alias="activation", default="gelu")
    max_position_embeddings: Size
    # Positions are weights of the checkpoint, whatever they began as.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {"sinusoidal_pos_embds", "tie_weights_"}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_heads(self)
        return self


class Embeddings(nn.Module):
    """The sum of word and position embeddings, normalised."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = PositionEmbedding(
            config.max_position_embeddings, config.hidden_size
        )
        self.LayerNorm = LayerNorm(config.hidden_size, _EPSILON)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        places = self.position_embeddings(op, input_ids)
        return self.LayerNorm(op, op.Add(self.word_embeddings(op, input_ids), places))


class SelfAttention(nn.Module):
    """Scaled dot-product attention and its output layer."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.q_lin = Linear(config.hidden_size, config.hidden_size)
        self.k_lin = Linear(config.hidden_size, config.hidden_size)
        self.v_lin = Linear(config.hidden_size, config.hidden_size)
        self.out_lin = Linear(config.hidden_size, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.q_lin, self.k_lin, self.v_lin)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.out_lin(op, mixed)


class FeedForward(nn.Module):
    """Widen, activate and narrow each token's vector."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.lin1 = Linear(config.hidden_size, config.intermediate_size)
        self.lin2 = Linear(config.intermediate_size, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        return self.lin2(op, self.activation.build(op, self.lin1(op, x)))


class Layer(nn.Module):
    """One transformer layer, normalised after each block."""

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__()
        self.attention = SelfAttention(config)
        self.sa_layer_norm = LayerNorm(config.hidden_size, _EPSILON)
        self.ffn = FeedForward(config)
        self.output_layer_norm = LayerNorm(config.hidden_size, _EPSILON)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.sa_layer_norm(op, op.Add(self.attention(op, x, bias), x))
        return self.output_layer_norm(op, op.Add(self.ffn(op, x), x))


class DistilBert(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[DistilBertConfig]] = DistilBertConfig
    prefix: ClassVar[str] = "distilbert."
    ignored: ClassVar[tuple[str, ...]] = (
        "vocab_transform.",
        "vocab_layer_norm.",
        "vocab_projector.",
        "pre_classifier.",
        "classifier.",
        "qa_outputs.",
        "embeddings.position_ids",
    )

    def __init__(self, config: DistilBertConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(config)
        self.transformer = Stack([Layer(config) for _ in range(config.num_hidden_layers)])
        self.hidden_states = self.transformer.hidden_states

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        x = self.embeddings(op, input_ids)
        return self.transformer(op, x, padding_bias(op, attention_mask))
