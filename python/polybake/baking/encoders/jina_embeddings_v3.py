"""jina-embeddings-v3: XLM-RoBERTa with rotary positions, normalised after each block.

Source: transformers ``JinaEmbeddingsV3Model``, without pooler, in evaluation.
"""

from typing import ClassVar

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture, Epsilon, HiddenAct, Size
from polybake.baking.encoders.rotary_config import OneThetaConfig, Theta
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import padding_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.rotary import Rotation, attend_fused, rotation


class JinaEmbeddingsV3Config(OneThetaConfig):
    """jina-embeddings-v3's configuration."""

    type_vocab_size: Size = 1
    layer_norm_eps: Epsilon = 1e-5
    hidden_act: HiddenAct = "gelu"
    rope_theta: Theta = 20_000.0


class Embeddings(nn.Module):
    """The sum of word and token type embeddings; all tokens are of type 0."""

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = Embedding(config.type_vocab_size, config.hidden_size)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        words = self.word_embeddings(op, input_ids)
        return op.Add(words, self.token_type_embeddings(op, op.Constant(value_int=0)))


class Mixer(nn.Module):
    """Attention with rotary positions."""

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        mixed = self.heads * self.head_size
        self.Wqkv = Linear(config.hidden_size, 3 * mixed)
        self.out_proj = Linear(mixed, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        qkv = self.Wqkv(op, x)
        mixed = attend_fused(op, qkv, rotation, bias, heads=self.heads, head_size=self.head_size)
        return self.out_proj(op, mixed)


class MLP(nn.Module):
    """A block without a gate."""

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__()
        self.fc1 = Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = Linear(config.intermediate_size, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.fc2(op, self.activation.build(op, self.fc1(op, x)))


class Layer(nn.Module):
    """One layer, normalised after each block."""

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__()
        self.mixer = Mixer(config)
        self.norm1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.mlp = MLP(config)
        self.norm2 = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.norm1(op, op.Add(x, self.mixer(op, x, rotation, bias)))
        return self.norm2(op, op.Add(x, self.mlp(op, x)))


class Layers(nn.Module):
    """The layers, one after another."""

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.layers:
            x = layer(op, x, rotation, bias)
        return x


class JinaEmbeddingsV3(Architecture):
    """jina-embeddings-v3: token ids to token embeddings."""

    Config: ClassVar[type[JinaEmbeddingsV3Config]] = JinaEmbeddingsV3Config
    prefix: ClassVar[str] = "roberta."
    ignored: ClassVar[tuple[str, ...]] = ("pooler.", "lm_head.", "classifier.", "qa_outputs.")

    def __init__(self, config: JinaEmbeddingsV3Config) -> None:
        super().__init__(config)
        self.config = config
        self.embeddings = Embeddings(config)
        self.emb_ln = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.encoder = Layers(config)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        turned = rotation(op, input_ids, self.config.frequencies())
        x = self.emb_ln(op, self.embeddings(op, input_ids))
        return self.encoder(op, x, turned, padding_bias(op, attention_mask))
