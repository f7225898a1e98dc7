"""ModernBERT: layers of full attention among layers that attend within a local window.

Source: transformers ``ModernBertModel``, in evaluation.
"""

from collections.abc import Collection
from typing import ClassVar, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import model_validator

from polybake.baking.encoders.architecture import (
    Architecture,
    Epsilon,
    HiddenAct,
    Size,
    check_heads,
)
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_config import LayerType, Theta, TwoThetasConfig
from polybake.baking.layers.attention_window import AttentionWindow, window_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.gated_mlp import gated
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.rotary import Rotation, attend_fused, frequencies, rotation


class ModernBertConfig(TwoThetasConfig):
    """ModernBERT's configuration."""

    hidden_activation: HiddenAct = "gelu"
    norm_eps: Epsilon = 1e-5
    norm_bias: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    local_attention: Size = 128
    #: Half of ``local_attention``, which it replaces.
    sliding_window: Size | None = None
    global_attn_every_n_layers: Size = 3
    global_rope_theta: Theta = 160_000.0
    local_rope_theta: Theta = 10_000.0
    # Heads' own, which their weights decide; and what transformers writes and does not read.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("classifier_activation", "classifier_bias", "classifier_pooling", "decoder_bias"),
        *("deterministic_flash_attn", "repad_logits_with_grad", "sparse_pred_ignore_index"),
        *("sparse_prediction", "layer_norm_eps", "position_embedding_type"),
    }

    @model_validator(mode="after")
    def _heads_share_the_hidden_size(self) -> Self:
        check_heads(self)
        size = self.hidden_size // self.num_attention_heads
        if self.head_size != size:
            raise ValueError(
                f"head_dim {self.head_dim} is not supported, only {size}, which is "
                f"hidden_size {self.hidden_size} / num_attention_heads {self.num_attention_heads}"
            )
        return self

    def types(self) -> tuple[LayerType, ...]:
        """Return the type of each layer."""
        return self.layer_types or tuple(
            "sliding_attention" if layer % self.global_attn_every_n_layers else "full_attention"
            for layer in range(self.num_hidden_layers)
        )

    def thetas(self) -> dict[LayerType, float]:
        """The base of the frequencies of each type of layer."""
        return {
            "full_attention": self.theta("full_attention", self.global_rope_theta),
            "sliding_attention": self.theta("sliding_attention", self.local_rope_theta),
        }

    def attention_windows(self) -> dict[LayerType, AttentionWindow]:
        """How far tokens attend in each type of layer: half the window to each side."""
        half = self.sliding_window or self.local_attention // 2
        return {
            "full_attention": AttentionWindow(),
            "sliding_attention": AttentionWindow(half, half),
        }


class Embeddings(nn.Module):
    """Word embeddings, normalised."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        self.tok_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.norm = LayerNorm(config.hidden_size, config.norm_eps, bias=config.norm_bias)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        return self.norm(op, self.tok_embeddings(op, input_ids))


class Attention(nn.Module):
    """Attention with rotary positions."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.head_size
        size = config.hidden_size
        self.Wqkv = Linear(size, 3 * size, bias=config.attention_bias)
        self.Wo = Linear(size, size, bias=config.attention_bias)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        qkv = self.Wqkv(op, x)
        mixed = attend_fused(op, qkv, rotation, bias, heads=self.heads, head_size=self.head_size)
        return self.Wo(op, mixed)


class MLP(nn.Module):
    """GeGLU; the first half of the wide layer is the gate."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.Wi = Linear(size, 2 * wide, bias=config.mlp_bias)
        self.Wo = Linear(wide, size, bias=config.mlp_bias)
        self.activation = config.hidden_activation

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        gate, up = op.Split(self.Wi(op, x), num_outputs=2, axis=-1, _outputs=2)
        return self.Wo(op, gated(op, self.activation, gate, up))


class Layer(nn.Module):
    """One layer, normalised before each block; the first one's input is normalised already."""

    def __init__(self, config: ModernBertConfig, *, first: bool) -> None:
        super().__init__()
        size, epsilon, bias = config.hidden_size, config.norm_eps, config.norm_bias
        self.attn_norm = None if first else LayerNorm(size, epsilon, bias=bias)
        self.attn = Attention(config)
        self.mlp_norm = LayerNorm(size, epsilon, bias=bias)
        self.mlp = MLP(config)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        normalised = x if self.attn_norm is None else self.attn_norm(op, x)
        x = op.Add(x, self.attn(op, normalised, rotation, bias))
        return op.Add(x, self.mlp(op, self.mlp_norm(op, x)))


class ModernBert(Architecture):
    """ModernBERT: token ids to token embeddings."""

    Config: ClassVar[type[ModernBertConfig]] = ModernBertConfig
    prefix: ClassVar[str] = "model."
    ignored: ClassVar[tuple[str, ...]] = ("head.", "decoder.", "classifier.", "qa_outputs.")

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__(config)
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(
            [Layer(config, first=layer == 0) for layer in range(config.num_hidden_layers)]
        )
        self.final_norm = LayerNorm(config.hidden_size, config.norm_eps, bias=config.norm_bias)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        config = self.config
        biases = {
            kind: window_bias(op, attention_mask, window)
            for kind, window in config.attention_windows().items()
        }
        rotations = {
            kind: rotation(op, input_ids, frequencies(config.head_size, theta))
            for kind, theta in config.thetas().items()
        }
        x = self.embeddings(op, input_ids)
        for layer, kind in zip(self.layers, config.types(), strict=True):
            x = layer(op, x, rotations[kind], biases[kind])
        return self.final_norm(op, x)
