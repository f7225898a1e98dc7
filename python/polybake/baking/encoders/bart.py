"""BART: an encoder, and a decoder that reads the same text again and looks at the encoder.

Source: transformers ``BartModel``, in evaluation and without the decoder's own ids: it is given the
text's, one place to the right.
"""

import math
from collections.abc import Collection
from typing import ClassVar, Literal, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import AliasChoices, Field, model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    EncoderConfig,
    HiddenAct,
    Layers,
    Size,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.attention_window import AttentionWindow, window_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear

#: Rows of the tables of positions that no place has.
_OFFSET = 2
#: What every normalisation adds to the variance: PyTorch's default.
_EPSILON = 1e-5


class BartConfig(EncoderConfig):
    """BART's configuration."""

    passed_over: ClassVar[Collection[str]] = PASSED_OVER - {"decoder_start_token_id"} | {
        *("classif_dropout", "decoder_layerdrop", "encoder_layerdrop", "init_std"),
        "force_bos_token_to_be_generated",
    }

    hidden_size: Size = Field(validation_alias=AliasChoices("d_model", "hidden_size"))
    num_hidden_layers: Layers = Field(
        validation_alias=AliasChoices("encoder_layers", "num_hidden_layers")
    )
    num_attention_heads: Size = Field(
        validation_alias=AliasChoices("encoder_attention_heads", "num_attention_heads")
    )
    encoder_ffn_dim: Size = 4096
    decoder_layers: Layers = 12
    decoder_attention_heads: Size = 16
    decoder_ffn_dim: Size = 4096
    max_position_embeddings: Size = 1024
    activation_function: HiddenAct = "gelu"
    scale_embedding: bool = False
    decoder_start_token_id: int = Field(default=2, ge=0, strict=True)
    is_encoder_decoder: Literal[True] = True
    # Of the first files; transformers computes these values alone.
    normalize_before: Literal[False] = False
    normalize_embedding: Literal[True] = True
    add_final_layer_norm: Literal[False] = False
    static_position_embeddings: Literal[False] = False
    extra_pos_embeddings: Literal[2] = 2

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for heads in (self.num_attention_heads, self.decoder_attention_heads):
            if self.hidden_size % heads:
                raise ValueError(f"d_model {self.hidden_size} is no multiple of {heads} heads")
        if self.decoder_start_token_id >= self.vocab_size:
            raise ValueError(
                f"decoder_start_token_id {self.decoder_start_token_id} is no token of "
                f"{self.vocab_size}"
            )
        return self


class Positions(Embedding):
    """A table with a row for each place, behind rows that no place has."""

    def forward(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[sequence, size]``."""
        end = op.Add(op.Shape(ids, start=1, end=2), [_OFFSET])
        rows: ir.Value = op.Slice(self.weight, [_OFFSET], end, [0])
        rows.shape = ir.Shape(["sequence", self.size])  # which inference cannot know
        return rows


class Attention(nn.Module):
    """Attention to the same tokens, or to others."""

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_size = heads, size // heads
        self.q_proj, self.k_proj = Linear(size, size), Linear(size, size)
        self.v_proj, self.out_proj = Linear(size, size), Linear(size, size)

    def forward(self, op: OpBuilder, x: ir.Value, seen: ir.Value, bias: ir.Value) -> ir.Value:
        """Mix ``seen`` for each token of ``x``; both are float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, layer(op, given), self.heads, self.head_size)
            for layer, given in ((self.q_proj, x), (self.k_proj, seen), (self.v_proj, seen))
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.out_proj(op, mixed)


class Layer(nn.Module):
    """One layer, normalised after each block; the decoder's also attends to the encoder."""

    def __init__(self, config: BartConfig, heads: int, wide: int, *, crossed: bool) -> None:
        super().__init__()
        size = config.hidden_size
        self.self_attn = Attention(size, heads)
        self.self_attn_layer_norm = LayerNorm(size, _EPSILON)
        self.encoder_attn = Attention(size, heads) if crossed else None
        self.encoder_attn_layer_norm = LayerNorm(size, _EPSILON) if crossed else None
        self.fc1, self.fc2 = Linear(size, wide), Linear(wide, size)
        self.final_layer_norm = LayerNorm(size, _EPSILON)
        self.activation = config.activation_function

    def forward(
        self,
        op: OpBuilder,
        x: ir.Value,
        bias: ir.Value,
        seen: ir.Value | None = None,
        seen_bias: ir.Value | None = None,
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.self_attn_layer_norm(op, op.Add(x, self.self_attn(op, x, x, bias)))
        if self.encoder_attn is not None and self.encoder_attn_layer_norm is not None:
            crossed = self.encoder_attn(op, x, seen, seen_bias)
            x = self.encoder_attn_layer_norm(op, op.Add(x, crossed))
        wide = ACTIVATIONS[self.activation].build(op, self.fc1(op, x))
        return self.final_layer_norm(op, op.Add(x, self.fc2(op, wide)))


class Half(nn.Module):
    """The encoder or the decoder, without the table of tokens that both share."""

    def __init__(self, config: BartConfig, *, crossed: bool) -> None:
        super().__init__()
        size = config.hidden_size
        self.embed_positions = Positions(config.max_position_embeddings + _OFFSET, size)
        self.layernorm_embedding = LayerNorm(size, _EPSILON)
        count = config.decoder_layers if crossed else config.num_hidden_layers
        heads = config.decoder_attention_heads if crossed else config.num_attention_heads
        wide = config.decoder_ffn_dim if crossed else config.encoder_ffn_dim
        self.layers = nn.ModuleList(
            [Layer(config, heads, wide, crossed=crossed) for _ in range(count)]
        )

    def forward(self, op: OpBuilder, ids: ir.Value, tokens: ir.Value, *given: ir.Value) -> ir.Value:
        """Keep the shape of ``tokens``, float32 ``[batch, sequence, hidden]``."""
        x = self.layernorm_embedding(op, op.Add(tokens, self.embed_positions(op, ids)))
        for layer in self.layers:
            x = layer(op, x, *given)
        return x


class Bart(Architecture):
    """BART: token ids to the decoder's token embeddings."""

    Config: ClassVar[type[BartConfig]] = BartConfig
    prefix: ClassVar[str] = "model."
    # The tables of tokens of both halves are the shared one.
    ignored: ClassVar[tuple[str, ...]] = (
        *("lm_head.", "final_logits_bias", "classification_head.", "qa_outputs."),
        *("encoder.embed_tokens.", "decoder.embed_tokens.", "encoder.version", "decoder.version"),
    )

    def __init__(self, config: BartConfig) -> None:
        super().__init__(config)
        self.config = config
        self.shared = Embedding(config.vocab_size, config.hidden_size)
        self.encoder = Half(config, crossed=False)
        self.decoder = Half(config, crossed=True)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        padding = padding_bias(op, attention_mask)
        seen = self.encoder(op, input_ids, self._tokens(op, input_ids), padding)
        earlier = op.Slice(op.Pad(input_ids, [0, 1, 0, 0], self._start(op)), [0], [-1], [1])
        # Padding stands behind the text, so no kept token attends to it here.
        causal = window_bias(op, attention_mask, AttentionWindow(after=0))
        return self.decoder(op, input_ids, self._tokens(op, earlier), causal, seen, padding)

    def _start(self, op: OpBuilder) -> ir.Value:
        return op.Constant(value_int=self.config.decoder_start_token_id)

    def _tokens(self, op: OpBuilder, ids: ir.Value) -> ir.Value:
        x = self.shared(op, ids)
        scale = math.sqrt(self.config.hidden_size)
        return op.Mul(x, scale) if self.config.scale_embedding else x
