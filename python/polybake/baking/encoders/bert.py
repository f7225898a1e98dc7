"""BERT, as a module tree whose names are the checkpoint's.

Source: transformers ``BertModel``, without pooler, in evaluation.
"""

from typing import ClassVar, Literal, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    EncoderConfig,
    Epsilon,
    HiddenAct,
    Size,
    check_heads,
)
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding, PositionEmbedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.stack import Stack


class BertConfig(EncoderConfig):
    """BERT's configuration."""

    intermediate_size: Size
    max_position_embeddings: Size
    type_vocab_size: Size = 2
    layer_norm_eps: Epsilon = 1e-12
    hidden_act: HiddenAct = "gelu"
    position_embedding_type: Literal["absolute"] = "absolute"
    add_cross_attention: Literal[False] = False

    @property
    def token_types(self) -> int:
        """Rows of the table of token types."""
        return self.type_vocab_size

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_heads(self)
        return self


class Embeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalised."""

    def __init__(self, config: BertConfig, size: int) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, size)
        self.position_embeddings: Embedding = PositionEmbedding(
            config.max_position_embeddings, size
        )
        self.token_type_embeddings = Embedding(config.type_vocab_size, size)
        self.LayerNorm = LayerNorm(size, config.layer_norm_eps)

    def forward(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, size]``.

        Every token of a single text is of type 0.
        """
        words = self.word_embeddings(op, input_ids)
        kinds = op.Constant(value_int=0) if token_type_ids is None else token_type_ids
        places = op.Add(self.places(op, input_ids), self.token_type_embeddings(op, kinds))
        return self.LayerNorm(op, op.Add(words, places))

    def places(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Embeddings of the tokens' places, which broadcast to ``[batch, sequence, size]``."""
        return self.position_embeddings(op, input_ids)


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
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.query, self.key, self.value)
        )
        return attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)


class ResidualOutput(nn.Module):
    """A linear layer whose result is added to the block's input and normalised."""

    def __init__(self, inputs: int, outputs: int, epsilon: float) -> None:
        super().__init__()
        self.dense = Linear(inputs, outputs)
        self.LayerNorm = LayerNorm(outputs, epsilon)

    def forward(self, op: OpBuilder, x: ir.Value, residual: ir.Value) -> ir.Value:
        """Map float32 ``[batch, sequence, inputs]`` to ``[batch, sequence, outputs]``."""
        return self.LayerNorm(op, op.Add(self.dense(op, x), residual))


class Attention(nn.Module):
    """Self-attention, of whatever kind, and its output layer."""

    def __init__(self, config: BertConfig, attention: nn.Module) -> None:
        super().__init__()
        self.self = attention
        self.output = ResidualOutput(config.hidden_size, config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, *given: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.output(op, self.self(op, x, *given), x)


class Intermediate(nn.Module):
    """The widening half of the feed-forward block."""

    def __init__(self, inputs: int, outputs: int, activation: str) -> None:
        super().__init__()
        self.dense = Linear(inputs, outputs)
        self.activation = ACTIVATIONS[activation]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[..., inputs]`` to ``[..., outputs]``."""
        return self.activation.build(op, self.dense(op, x))


class Layer(nn.Module):
    """One transformer layer, normalised after each block."""

    def __init__(self, config: BertConfig, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention
        hidden, wide = config.hidden_size, config.intermediate_size
        self.intermediate = Intermediate(hidden, wide, config.hidden_act)
        self.output = ResidualOutput(wide, hidden, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, *given: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``; attention gets what is given."""
        x = self.attention(op, x, *given)
        return self.output(op, self.intermediate(op, x), x)


class Bert(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[BertConfig]] = BertConfig
    typed: ClassVar[bool] = True
    prefix: ClassVar[str] = "bert."
    ignored: ClassVar[tuple[str, ...]] = (
        "pooler.",
        "cls.",
        "classifier.",
        "qa_outputs.",
        "embeddings.position_ids",
        "embeddings.token_type_ids",
    )

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(config, config.hidden_size)
        self.encoder = Stack(
            [
                Layer(config, Attention(config, SelfAttention(config)))
                for _ in range(config.num_hidden_layers)
            ]
        )
        self.hidden_states = self.encoder.hidden_states

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        embeddings = self.embed(op, input_ids, token_type_ids)
        return self.encoder(op, embeddings, padding_bias(op, attention_mask))

    def embed(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Give what the first layer takes: float32 ``[batch, sequence, hidden]``."""
        return self.embeddings(op, input_ids, token_type_ids)
