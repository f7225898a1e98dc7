"""BERT, as a module tree whose names are the checkpoint's.

Source: transformers ``BertModel``, without pooler, in evaluation.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from onnxscript import OpBuilder, ir, nn
from pydantic import BaseModel, ConfigDict, Field, model_validator

from polybake.activations import ACTIVATIONS
from polybake.encoders.layers import Embedding, LayerNorm, Linear
from polybake.manifest import Feed

_SMALLEST = float(np.finfo(np.float32).min)

#: transformers' ``hidden_act`` to our name of the same function.
_HIDDEN_ACTS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}

Size = Annotated[int, Field(gt=0, strict=True)]
#: Far above any BERT's; a hostile number would build layers until the memory is full.
Layers = Annotated[int, Field(gt=0, le=256, strict=True)]


class BertConfig(BaseModel):
    """The keys of config.json that decide the computation."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    intermediate_size: Size
    max_position_embeddings: Size
    type_vocab_size: Size = 2
    layer_norm_eps: float = 1e-12
    hidden_act: str = "gelu"
    position_embedding_type: Literal["absolute"] = "absolute"
    is_decoder: Literal[False] = False

    @model_validator(mode="after")
    def _fits(self) -> BertConfig:
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is no multiple of "
                f"num_attention_heads {self.num_attention_heads}"
            )
        if self.hidden_act not in _HIDDEN_ACTS:
            raise ValueError(
                f"unknown hidden_act {self.hidden_act!r}; "
                f"known are: {', '.join(sorted(_HIDDEN_ACTS))}"
            )
        return self


class Embeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        length = op.Squeeze(op.Shape(input_ids, start=1, end=2), axes=[0])
        positions = op.Range(0, length, 1)
        words = self.word_embeddings(op, input_ids)
        types = self.token_type_embeddings(op, token_type_ids)
        places = self.position_embeddings(op, positions)
        return self.LayerNorm(op, op.Add(op.Add(words, types), places))


class SelfAttention(nn.Module):
    """Scaled dot-product attention of all tokens with the unmasked ones."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.query = Linear(config.hidden_size, config.hidden_size)
        self.key = Linear(config.hidden_size, config.hidden_size)
        self.value = Linear(config.hidden_size, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query = op.Transpose(self._split(op, self.query(op, x)), perm=[0, 2, 1, 3])
        key = op.Transpose(self._split(op, self.key(op, x)), perm=[0, 2, 3, 1])
        value = op.Transpose(self._split(op, self.value(op, x)), perm=[0, 2, 1, 3])
        scores = op.Div(op.MatMul(query, key), math.sqrt(self.head_size))
        attention = op.Softmax(op.Add(scores, bias), axis=-1)
        mixed = op.Transpose(op.MatMul(attention, value), perm=[0, 2, 1, 3])
        return op.Reshape(mixed, [0, 0, self.heads * self.head_size])

    def _split(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Split hidden into heads: ``[batch, sequence, heads, head_size]``."""
        return op.Reshape(x, [0, 0, self.heads, self.head_size])


class ResidualOutput(nn.Module):
    """A linear layer whose result is added to the block's input and normalised."""

    def __init__(self, inputs: int, config: BertConfig) -> None:
        super().__init__()
        self.dense = Linear(inputs, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, residual: ir.Value) -> ir.Value:
        """Map float32 ``[batch, sequence, inputs]`` to ``[batch, sequence, hidden]``."""
        return self.LayerNorm(op, op.Add(self.dense(op, x), residual))


class Attention(nn.Module):
    """Self-attention and its output layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = SelfAttention(config)
        self.output = ResidualOutput(config.hidden_size, config)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.output(op, self.self(op, x, bias), x)


class Intermediate(nn.Module):
    """The widening half of the feed-forward block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACTIVATIONS[_HIDDEN_ACTS[config.hidden_act]]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[..., hidden]`` to ``[..., intermediate]``."""
        return self.activation.build(op, self.dense(op, x))


class Layer(nn.Module):
    """One transformer layer, normalised after each block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.intermediate = Intermediate(config)
        self.output = ResidualOutput(config.intermediate_size, config)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.attention(op, x, bias)
        return self.output(op, self.intermediate(op, x), x)


class Stack(nn.Module):
    """The layers, one after another."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.layer:
            x = layer(op, x, bias)
        return x


class Bert(nn.Module):
    """The whole encoder: token ids to token embeddings."""

    Config = BertConfig
    feeds: tuple[Feed, ...] = ("input_ids", "attention_mask", "token_type_ids")
    #: Weights that other uses of a checkpoint need, and buffers that are no weights.
    ignored = ("pooler.", "cls.", "embeddings.position_ids", "embeddings.token_type_ids")

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = Stack(config)

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        masked = op.Sub(1.0, op.Cast(attention_mask, to=ir.DataType.FLOAT))
        bias = op.Unsqueeze(op.Mul(masked, _SMALLEST), axes=[1, 2])
        return self.encoder(op, self.embeddings(op, input_ids, token_type_ids), bias)
