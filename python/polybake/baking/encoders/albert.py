"""ALBERT: projected embeddings, and layers that share their weights in groups.

Source: transformers ``AlbertModel``, without pooler, in evaluation.
"""

from collections.abc import Collection
from typing import Any, ClassVar

from onnxscript import OpBuilder, ir, nn

from polybake.baking.encoders.architecture import Architecture, HiddenAct, Layers, Size
from polybake.baking.encoders.bert import BertConfig, Embeddings
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear


class AlbertConfig(BertConfig):
    """ALBERT's configuration."""

    embedding_size: Size = 128
    hidden_act: HiddenAct = "gelu_new"
    num_hidden_groups: Layers = 1
    inner_group_num: Layers = 1
    add_cross_attention: Any = None  # no decoder is made of ALBERT
    # The first checkpoints' own; transformers reads none of them.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"),
    }


class Attention(nn.Module):
    """Self-attention and its output layer, added to the input and normalised."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.head_size = config.hidden_size // config.num_attention_heads
        self.query = Linear(config.hidden_size, config.hidden_size)
        self.key = Linear(config.hidden_size, config.hidden_size)
        self.value = Linear(config.hidden_size, config.hidden_size)
        self.dense = Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query, key, value = (
            split_heads(op, part(op, x), self.heads, self.head_size)
            for part in (self.query, self.key, self.value)
        )
        mixed = attend(op, query, key, value, bias, heads=self.heads, head_size=self.head_size)
        return self.LayerNorm(op, op.Add(x, self.dense(op, mixed)))


class Layer(nn.Module):
    """One transformer layer, normalised after each block."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.full_layer_layer_norm = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.attention = Attention(config)
        self.ffn = Linear(config.hidden_size, config.intermediate_size)
        self.ffn_output = Linear(config.intermediate_size, config.hidden_size)
        self.activation = ACTIVATIONS[config.hidden_act]

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.attention(op, x, bias)
        wide = self.activation.build(op, self.ffn(op, x))
        return self.full_layer_layer_norm(op, op.Add(self.ffn_output(op, wide), x))


class Group(nn.Module):
    """Layers that are run one after another, wherever the group is used."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.albert_layers = nn.ModuleList([Layer(config) for _ in range(config.inner_group_num)])

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.albert_layers:
            x = layer(op, x, bias)
        return x


class Stack(nn.Module):
    """The groups, each used for an equal run of layers."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.embedding_hidden_mapping_in = Linear(config.embedding_size, config.hidden_size)
        self.albert_layer_groups = nn.ModuleList(
            [Group(config) for _ in range(config.num_hidden_groups)]
        )
        layers_of_a_group = config.num_hidden_layers / config.num_hidden_groups
        self.order = [int(layer / layers_of_a_group) for layer in range(config.num_hidden_layers)]

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Map float32 ``[batch, sequence, embedding]`` to ``[batch, sequence, hidden]``."""
        x = self.embedding_hidden_mapping_in(op, x)
        for group in self.order:
            x = self.albert_layer_groups[group](op, x, bias)
        return x


class Albert(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[AlbertConfig]] = AlbertConfig
    typed: ClassVar[bool] = True
    prefix: ClassVar[str] = "albert."
    ignored: ClassVar[tuple[str, ...]] = (
        "pooler.",
        "predictions.",
        "sop_classifier.",
        "classifier.",
        "qa_outputs.",
        "embeddings.position_ids",
        "embeddings.token_type_ids",
    )

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(config, config.embedding_size)
        self.encoder = Stack(config)

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        embeddings = self.embeddings(op, input_ids, token_type_ids)
        return self.encoder(op, embeddings, padding_bias(op, attention_mask))
