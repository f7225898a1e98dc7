"""MPNet: BERT's layers with one relative position bias for all, beside absolute positions.

Source: transformers ``MPNetModel``, without pooler, in evaluation.
"""

from typing import Any, ClassVar, Literal

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bert import BertConfig, Layer
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.positions import positions_after_padding
from polybake.baking.layers.relative_bias import RelativeBias
from polybake.baking.layers.stack import Stack

#: Constants of transformers' code, which no configuration changes.
_PADDING_ID = 1
_BUCKETS = 32
_MAX_DISTANCE = 128


class MPNetConfig(BertConfig):
    """MPNet's configuration."""

    relative_attention_num_buckets: Literal[32] = 32
    # MPNet's own attention reads neither.
    is_causal: Any = None
    add_cross_attention: Any = None


class Embeddings(nn.Module):
    """The sum of word and position embeddings, normalised."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = Embedding(config.max_position_embeddings, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        positions = positions_after_padding(op, input_ids, _PADDING_ID)
        places = self.position_embeddings(op, positions)
        return self.LayerNorm(op, op.Add(self.word_embeddings(op, input_ids), places))


class SelfAttention(nn.Module):
    """Scaled dot-product attention and its output layer."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.q = Linear(config.hidden_size, config.hidden_size)
        self.k = Linear(config.hidden_size, config.hidden_size)
        self.v = Linear(config.hidden_size, config.hidden_size)
        self.o = Linear(config.hidden_size, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.q, self.k, self.v)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.o(op, mixed)


class Attention(nn.Module):
    """Self-attention, added to its input and normalised."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__()
        self.attn = SelfAttention(config)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.LayerNorm(op, op.Add(self.attn(op, x, bias), x))


class BiasedStack(Stack):
    """The layers, whose attention knows how far apart two tokens are."""

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(
            [Layer(config, Attention(config)) for _ in range(config.num_hidden_layers)]
        )
        self.relative_attention_bias = RelativeBias(
            config.num_attention_heads, _BUCKETS, _MAX_DISTANCE
        )

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return super().forward(op, x, op.Add(self.relative_attention_bias(op, x), bias))


class MPNet(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[MPNetConfig]] = MPNetConfig
    prefix: ClassVar[str] = "mpnet."
    ignored: ClassVar[tuple[str, ...]] = (
        *("pooler.", "lm_head.", "classifier.", "qa_outputs."),
        "embeddings.position_ids",
    )

    def __init__(self, config: MPNetConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(config)
        self.encoder = BiasedStack(config)
        self.hidden_states = self.encoder.hidden_states

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        return self.encoder(op, self.embeddings(op, input_ids), padding_bias(op, attention_mask))
