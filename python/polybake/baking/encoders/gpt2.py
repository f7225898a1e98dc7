"""GPT-2: a decoder with a table of positions, normalised before each block.

Source: transformers ``GPT2Model``, in evaluation.
"""

from collections.abc import Collection
from typing import ClassVar, Literal, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import AliasChoices, Field, model_validator

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


class Gpt2Config(EncoderConfig):
    """GPT-2's configuration."""

    # Other names of n_positions, training, and how scores are rounded.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {"n_ctx", "reorder_and_upcast_attn"}

    vocab_size: Size = 50257
    hidden_size: Size = Field(768, validation_alias=AliasChoices("n_embd", "hidden_size"))
    num_hidden_layers: Layers = Field(
        12, validation_alias=AliasChoices("n_layer", "num_hidden_layers")
    )
    num_attention_heads: Size = Field(
        12, validation_alias=AliasChoices("n_head", "num_attention_heads")
    )
    n_positions: Size = 1024
    n_inner: Size | None = None
    activation_function: HiddenAct = "gelu_new"
    layer_norm_epsilon: Epsilon = 1e-5
    scale_attn_weights: Literal[True] = True
    scale_attn_by_inverse_layer_idx: Literal[False] = False
    add_cross_attention: Literal[False] = False
    is_causal: Literal[True] = True  # type: ignore[assignment] # others refuse it

    @property
    def wide(self) -> int:
        """Elements between the layers of the feed-forward block."""
        return self.n_inner or 4 * self.hidden_size

    @model_validator(mode="after")
    def _heads_fit(self) -> Self:
        check_heads(self)
        return self


class Conv1D(nn.Module):
    """``x @ weight + bias``, whose weight lies in checkpoints as ``[in, out]``."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter([inputs, outputs])
        self.bias = nn.Parameter([outputs])

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Map float32 ``[..., in]`` to ``[..., out]``."""
        return op.Add(op.MatMul(x, self.weight), self.bias)


class Attention(nn.Module):
    """Attention whose queries, keys and values come from one layer."""

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // self.heads
        self.c_attn = Conv1D(config.hidden_size, 3 * config.hidden_size)
        self.c_proj = Conv1D(config.hidden_size, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, part, self.heads, self.head_size)
            for part in op.Split(self.c_attn(op, x), num_outputs=3, axis=-1, _outputs=3)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.c_proj(op, mixed)


class FeedForward(nn.Module):
    """Two layers with an activation between them."""

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        self.c_fc = Conv1D(config.hidden_size, config.wide)
        self.c_proj = Conv1D(config.wide, config.hidden_size)
        self.activation = config.activation_function

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[..., hidden]``."""
        return self.c_proj(op, ACTIVATIONS[self.activation].build(op, self.c_fc(op, x)))


class Block(nn.Module):
    """One layer, normalised before each block."""

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        size, epsilon = config.hidden_size, config.layer_norm_epsilon
        self.ln_1 = LayerNorm(size, epsilon)
        self.attn = Attention(config)
        self.ln_2 = LayerNorm(size, epsilon)
        self.mlp = FeedForward(config)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = op.Add(x, self.attn(op, self.ln_1(op, x), bias))
        return op.Add(x, self.mlp(op, self.ln_2(op, x)))


class Gpt2(Architecture):
    """GPT-2: token ids to token embeddings."""

    Config: ClassVar[type[Gpt2Config]] = Gpt2Config
    prefix: ClassVar[str] = "transformer."
    # The last two are masks that old checkpoints hold for each layer.
    ignored: ClassVar[tuple[str, ...]] = (
        *("lm_head.", "score.", "classifier.", "multiple_choice_head.", "qa_outputs."),
        *(f"h.{layer}.attn.bias" for layer in range(256)),
        *(f"h.{layer}.attn.masked_bias" for layer in range(256)),
    )

    def __init__(self, config: Gpt2Config) -> None:
        super().__init__(config)
        self.wte = Embedding(config.vocab_size, config.hidden_size)
        self.wpe = PositionEmbedding(config.n_positions, config.hidden_size)
        self.h = nn.ModuleList([Block(config) for _ in range(config.num_hidden_layers)])
        self.ln_f = LayerNorm(config.hidden_size, config.layer_norm_epsilon)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        bias = window_bias(op, attention_mask, AttentionWindow(after=0))
        x = op.Add(self.wte(op, input_ids), self.wpe(op, input_ids))
        for block in self.h:
            x = block(op, x, bias)
        return self.ln_f(op, x)
