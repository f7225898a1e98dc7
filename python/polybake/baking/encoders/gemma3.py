"""Gemma 3's text model, also attending to both sides as EmbeddingGemma has it.

Source: transformers ``Gemma3TextModel``, in evaluation.
"""

import math
from collections.abc import Collection
from typing import ClassVar, Literal

from onnxscript import OpBuilder, ir, nn
from pydantic import Field

from polybake.baking.encoders.architecture import Architecture, HiddenAct, Size
from polybake.baking.encoders.decoder import BiasedConfig, GroupedAttention
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_config import LayerType, Theta, TwoThetasConfig
from polybake.baking.layers.attention_window import AttentionWindow, window_bias
from polybake.baking.layers.embedding import ScaledEmbedding
from polybake.baking.layers.gated_mlp import GatedMLP
from polybake.baking.layers.rms_norm import OneBasedRMSNorm, RMSNorm
from polybake.baking.layers.rotary import Rotation, frequencies, rotation


class Gemma3Config(BiasedConfig, TwoThetasConfig):
    """The text model's configuration."""

    head_norm: ClassVar[type[RMSNorm] | None] = OneBasedRMSNorm

    head_dim: Size | None = 256
    hidden_activation: HiddenAct = "gelu_pytorch_tanh"
    query_pre_attn_scalar: float = Field(default=256, gt=0, allow_inf_nan=False)
    attn_logit_softcapping: None = None
    use_bidirectional_attention: bool | None = False
    is_causal: Literal[True] = True  # type: ignore[assignment] # others refuse it
    sliding_window: Size = 4096
    sliding_window_pattern: Size = 6
    rope_theta: Theta = 1_000_000.0
    rope_local_base_freq: Theta = 10_000.0
    # The logits' alone, and what transformers 4 saves beside the layers' types that it made.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("final_logit_softcapping", "_sliding_window_pattern"),
    }

    @property
    def scale(self) -> float:
        """The factor of the scores."""
        return 1.0 / math.sqrt(self.query_pre_attn_scalar)

    def types(self) -> tuple[LayerType, ...]:
        """Return the type of each layer."""
        return self.layer_types or tuple(
            "sliding_attention" if layer % self.sliding_window_pattern else "full_attention"
            for layer in range(1, self.num_hidden_layers + 1)
        )

    def thetas(self) -> dict[LayerType, float]:
        """The base of the frequencies of each type of layer."""
        return {
            "full_attention": self.theta("full_attention", self.rope_theta),
            "sliding_attention": self.theta("sliding_attention", self.rope_local_base_freq),
        }

    def attention_windows(self) -> dict[LayerType, AttentionWindow]:
        """How far tokens attend in each type of layer; to both sides, half the window each."""
        if self.use_bidirectional_attention:
            half = self.sliding_window // 2
            return {
                "full_attention": AttentionWindow(),
                "sliding_attention": AttentionWindow(half, half),
            }
        window = AttentionWindow(before=self.sliding_window - 1, after=0)
        return {"full_attention": AttentionWindow(after=0), "sliding_attention": window}


class Layer(nn.Module):
    """One layer, normalised before and after each block."""

    def __init__(self, config: Gemma3Config) -> None:
        super().__init__()
        size, epsilon = config.hidden_size, config.rms_norm_eps
        self.input_layernorm = OneBasedRMSNorm(size, epsilon)
        self.self_attn = GroupedAttention(config)
        self.post_attention_layernorm = OneBasedRMSNorm(size, epsilon)
        self.pre_feedforward_layernorm = OneBasedRMSNorm(size, epsilon)
        self.mlp = GatedMLP(size, config.intermediate_size, config.hidden_activation)
        self.post_feedforward_layernorm = OneBasedRMSNorm(size, epsilon)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        mixed = self.self_attn(op, self.input_layernorm(op, x), rotation, bias)
        x = op.Add(x, self.post_attention_layernorm(op, mixed))
        wide = self.mlp(op, self.pre_feedforward_layernorm(op, x))
        return op.Add(x, self.post_feedforward_layernorm(op, wide))


class Gemma3(Architecture):
    """Gemma 3: token ids to token embeddings."""

    Config: ClassVar[type[Gemma3Config]] = Gemma3Config
    prefix: ClassVar[str] = "model."
    ignored: ClassVar[tuple[str, ...]] = ("lm_head.", "score.")

    def __init__(self, config: Gemma3Config) -> None:
        super().__init__(config)
        self.config = config
        self.embed_tokens = ScaledEmbedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])
        self.norm = OneBasedRMSNorm(config.hidden_size, config.rms_norm_eps)

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
        x = self.embed_tokens(op, input_ids)
        for layer, kind in zip(self.layers, config.types(), strict=True):
            x = layer(op, x, rotations[kind], biases[kind])
        return self.norm(op, x)
