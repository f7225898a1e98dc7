"""JinaBERT: BERT with ALiBi in place of position embeddings, and a gated feed-forward block.

Its checkpoints call themselves ``bert`` and bring their own code. In the second form, that of the
model for code, queries and keys are normalised, the gate is the other half, and another
normalisation follows attention.

Source: ``JinaBertModel`` of jinaai/jina-bert-implementation and of
jinaai/jina-bert-v2-qk-post-norm, without pooler, in evaluation.
"""

from typing import ClassVar, Literal

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture
from polybake.baking.encoders.bert import Attention, Bert, BertConfig, SelfAttention
from polybake.baking.layers.alibi import alibi_bias
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.gated_mlp import gated
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.stack import Stack
from polybake.baking.layers.weights import Prefix


class JinaBertConfig(BertConfig):
    """JinaBERT's configuration."""

    own_code: ClassVar[str | None] = "JinaBert"

    position_embedding_type: Literal["alibi"]  # type: ignore[assignment] # BERT's is refused
    feed_forward_type: Literal["geglu", "reglu"]
    #: How the code's own ``encode`` pools, which sentence-transformers does not call.
    emb_pooler: Literal["mean"] | None = None

    @property
    def gate(self) -> str:
        """The activation of the gate; ``hidden_act`` is that of blocks without one."""
        return "gelu" if self.feed_forward_type == "geglu" else "relu"


class JinaBertQKConfig(JinaBertConfig):
    """The configuration of the second form, with its own default."""

    feed_forward_type: Literal["geglu", "reglu"] = "geglu"


class Embeddings(nn.Module):
    """The sum of word and token type embeddings, normalised."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``.

        Every token of a single text is of type 0.
        """
        kinds = op.Constant(value_int=0) if token_type_ids is None else token_type_ids
        words = self.word_embeddings(op, input_ids)
        return self.LayerNorm(op, op.Add(words, self.token_type_embeddings(op, kinds)))


class MLP(nn.Module):
    """A gated block and its normalisation; the first half of the wide layer is the gate."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.gated_layers = Linear(size, 2 * wide, bias=False)
        self.wo = Linear(wide, size)
        self.layernorm = LayerNorm(size, config.layer_norm_eps)
        self.activation = config.gate

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        gate, up = op.Split(self.gated_layers(op, x), num_outputs=2, axis=-1, _outputs=2)
        return self.layernorm(op, op.Add(x, self.wo(op, gated(op, self.activation, gate, up))))


class Layer(nn.Module):
    """One layer, normalised after each block."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__()
        self.attention = Attention(config, SelfAttention(config))
        self.mlp = MLP(config)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.mlp(op, self.attention(op, x, bias))


class NormedAttention(SelfAttention):
    """Attention whose queries and keys are normalised, all heads together."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__(config)
        self.layer_norm_q = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.layer_norm_k = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, part, self.heads, self.head_size)
            for part in (
                self.layer_norm_q(op, self.query(op, x)),
                self.layer_norm_k(op, self.key(op, x)),
                self.value(op, x),
            )
        )
        return attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)


class PlainMLP(nn.Module):
    """A gated block; the second half of the wide layer is the gate."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.up_gated_layer = Linear(size, 2 * wide, bias=False)
        self.down_layer = Linear(wide, size)
        self.activation = config.gate

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        up, gate = op.Split(self.up_gated_layer(op, x), num_outputs=2, axis=-1, _outputs=2)
        return self.down_layer(op, gated(op, self.activation, gate, up))


class QKLayer(nn.Module):
    """One layer of the second form: what attention gives is added and normalised twice."""

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__()
        size, epsilon = config.hidden_size, config.layer_norm_eps
        self.attention = Attention(config, NormedAttention(config))
        self.layer_norm_1 = LayerNorm(size, epsilon)
        self.mlp = PlainMLP(config)
        self.layer_norm_2 = LayerNorm(size, epsilon)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.layer_norm_1(op, op.Add(x, self.attention(op, x, bias)))
        return self.layer_norm_2(op, op.Add(x, self.mlp(op, x)))


class JinaBert(Architecture):
    """JinaBERT: token ids to token embeddings."""

    Config: ClassVar[type[JinaBertConfig]] = JinaBertConfig
    layer: ClassVar[type[Layer | QKLayer]] = Layer
    typed: ClassVar[bool] = True
    prefix: ClassVar[Prefix] = Bert.prefix
    ignored: ClassVar[tuple[str, ...]] = Bert.ignored

    def __init__(self, config: JinaBertConfig) -> None:
        super().__init__(config)
        self.heads = config.num_attention_heads
        self.embeddings = Embeddings(config)
        self.encoder = Stack([self.layer(config) for _ in range(config.num_hidden_layers)])

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        x = self.embeddings(op, input_ids, token_type_ids)
        near = alibi_bias(op, input_ids, self.heads)
        return self.encoder(op, x, op.Add(padding_bias(op, attention_mask), near))


class JinaBertQK(JinaBert):
    """JinaBERT in its second form."""

    Config: ClassVar[type[JinaBertConfig]] = JinaBertQKConfig
    layer: ClassVar[type[Layer | QKLayer]] = QKLayer
