"""BERT with rotary positions, normalised after each block, as NomicBERT and jina-embeddings-v3 are.

Source: transformers ``NomicBertModel`` and ``JinaEmbeddingsV3Model``, in evaluation.
"""

from typing import ClassVar

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture, Epsilon, HiddenAct, Size
from polybake.baking.encoders.rotary_config import OneThetaConfig
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import padding_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.rotary import Rotation, attend_fused, rotation


class RotaryBertConfig(OneThetaConfig):
    """The keys that the layers read, and what a family may say otherwise."""

    type_vocab_size: Size
    layer_norm_eps: Epsilon
    hidden_act: HiddenAct

    @property
    def attention_biases(self) -> bool:
        """Whether the layers of attention have biases."""
        return True

    @property
    def inner_bias(self) -> bool:
        """Whether the layers that widen a token have biases."""
        return True

    @property
    def outer_bias(self) -> bool:
        """Whether those that narrow it again have biases."""
        return True

    @property
    def plain_act(self) -> str:
        """The activation of a block without a gate."""
        return self.hidden_act


class Embeddings(nn.Module):
    """The sum of word and token type embeddings."""

    def __init__(self, config: RotaryBertConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = Embedding(config.type_vocab_size, config.hidden_size)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        words = self.word_embeddings(op, input_ids)
        return op.Add(words, self.token_type_embeddings(op, op.Constant(value_int=0)))


class Attention(nn.Module):
    """Attention with rotary positions."""

    def __init__(self, config: RotaryBertConfig) -> None:
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        mixed = self.heads * self.head_size
        self.Wqkv = Linear(config.hidden_size, 3 * mixed, bias=config.attention_biases)
        self.out_proj = Linear(mixed, config.hidden_size, bias=config.attention_biases)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        qkv = self.Wqkv(op, x)
        mixed = attend_fused(op, qkv, rotation, bias, heads=self.heads, head_size=self.head_size)
        return self.out_proj(op, mixed)


class MLP(nn.Module):
    """A block without a gate."""

    def __init__(self, config: RotaryBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.fc1 = Linear(size, wide, bias=config.inner_bias)
        self.fc2 = Linear(wide, size, bias=config.outer_bias)
        self.activation = ACTIVATIONS[config.plain_act]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.fc2(op, self.activation.build(op, self.fc1(op, x)))


class Layer(nn.Module):
    """One layer, normalised after each block."""

    def __init__(self, config: RotaryBertConfig, mlp: nn.Module) -> None:
        super().__init__()
        self.attn = Attention(config)
        self.norm1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.mlp = mlp
        self.norm2 = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.norm1(op, op.Add(x, self.attn(op, x, rotation, bias)))
        return self.norm2(op, op.Add(x, self.mlp(op, x)))


class Stack(nn.Module):
    """The layers, one after another."""

    def __init__(self, layers: list[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.layers:
            x = layer(op, x, rotation, bias)
        return x


class RotaryBert(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[RotaryBertConfig]] = RotaryBertConfig

    def __init__(self, config: RotaryBertConfig) -> None:
        super().__init__(config)
        self.config = config
        self.embeddings = Embeddings(config)
        self.emb_ln = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.encoder = Stack(
            [Layer(config, self.feed_forward(place)) for place in range(config.num_hidden_layers)]
        )

    def feed_forward(self, place: int) -> nn.Module:  # noqa: ARG002 - what subclasses take
        """Return the block behind the attention of a layer, counted from 0."""
        return MLP(self.config)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        turned = rotation(op, input_ids, self.config.frequencies())
        x = self.emb_ln(op, self.embeddings(op, input_ids))
        return self.encoder(op, x, turned, padding_bias(op, attention_mask))
