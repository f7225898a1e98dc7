"""DeBERTa-v2 and v3: attention of contents and relative positions, kept apart.

Source: transformers ``DebertaV2Model``, in evaluation; DeBERTa-v3's checkpoints are of this type.
"""

import math
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import Field, field_validator, model_validator

from polybake.baking.encoders.architecture import Architecture, Epsilon, check_heads
from polybake.baking.encoders.bert import Attention, BertConfig, Layer
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.log_buckets import log_buckets
from polybake.baking.layers.positions import distances
from polybake.baking.layers.stack import Stack


class DebertaConfig(BertConfig):
    """DeBERTa-v2's configuration, for models with relative positions only."""

    #: Whether the layers that make keys have a bias.
    key_bias: ClassVar[bool] = True

    max_position_embeddings: Annotated[int, Field(gt=0, le=2**20, strict=True)]
    layer_norm_eps: Epsilon = 1e-7
    relative_attention: Literal[True]
    position_biased_input: Literal[False]
    type_vocab_size: Literal[0] = 0
    conv_kernel_size: Literal[0] = 0
    embedding_size: int | None = None
    attention_head_size: int | None = None
    max_relative_positions: int = -1
    position_buckets: int = -1
    pos_att_type: tuple[Literal["c2p", "p2c"], ...] = ()
    share_att_key: bool = False
    norm_rel_ebd: Literal["none", "layer_norm"] = "none"
    # DeBERTa's own attention reads none of these.
    is_causal: Any = None
    add_cross_attention: Any = None
    position_embedding_type: Any = None
    # The head's legacy layers, and what a convolution that is not there ends with.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {"conv_act", "legacy"}

    @field_validator("pos_att_type", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return (
            [part.strip() for part in value.lower().split("|")] if isinstance(value, str) else value
        )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        check_heads(self)
        head_size = self.hidden_size // self.num_attention_heads
        for key, found, expected in (
            ("embedding_size", self.embedding_size, self.hidden_size),
            ("attention_head_size", self.attention_head_size, head_size),
        ):
            if found not in (None, expected):
                raise ValueError(f"{key} {found} is not supported, only {expected}")
        if self.position_buckets == 1 or self.furthest < 2:
            raise ValueError("position_buckets and max_relative_positions leave no position")
        return self

    @property
    def furthest(self) -> int:
        """The distance at which the logarithmic buckets end."""
        given = self.max_relative_positions
        return given if given >= 1 else self.max_position_embeddings

    @property
    def span(self) -> int:
        """Relative embeddings on each side."""
        return self.position_buckets if self.position_buckets > 0 else self.furthest


class Embeddings(nn.Module):
    """Word embeddings, normalised."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``."""
        return self.LayerNorm(op, self.word_embeddings(op, input_ids))


class RelativeEmbeddings(nn.Module):
    """One vector for each bucket of distances."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter([2 * config.span, config.hidden_size])

    def forward(self, op: OpBuilder) -> ir.Value:
        """Give float32 ``[1, buckets, hidden]``."""
        return op.Unsqueeze(self.weight, axes=[0])


class SelfAttention(nn.Module):
    """Attention whose scores add content to position (c2p) and position to content (p2c)."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__()
        hidden = config.hidden_size
        self.heads = config.num_attention_heads
        self.head_size = hidden // config.num_attention_heads
        self.kinds = config.pos_att_type
        self.scale = 1 / math.sqrt(self.head_size * (1 + len(set(config.pos_att_type))))
        self.query_proj = Linear(hidden, hidden)
        self.key_proj = Linear(hidden, hidden, bias=config.key_bias)
        self.value_proj = Linear(hidden, hidden)
        shared = config.share_att_key
        self.pos_key_proj = (
            Linear(hidden, hidden, bias=config.key_bias)
            if "c2p" in self.kinds and not shared
            else None
        )
        self.pos_query_proj = Linear(hidden, hidden) if "p2c" in self.kinds and not shared else None

    def forward(
        self, op: OpBuilder, x: ir.Value, bias: ir.Value, relative: ir.Value, buckets: ir.Value
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query = self._split(op, self.query_proj, x)
        key = self._split(op, self.key_proj, x)
        value = self._split(op, self.value_proj, x)
        if "c2p" in self.kinds:
            positions = self._split(op, self.pos_key_proj or self.key_proj, relative)
            bias = op.Add(bias, self._pick(op, query, positions, buckets))
        if "p2c" in self.kinds:
            positions = self._split(op, self.pos_query_proj or self.query_proj, relative)
            turned = op.Transpose(buckets, perm=[0, 1, 3, 2])
            picked = self._pick(op, key, positions, turned)
            bias = op.Add(bias, op.Transpose(picked, perm=[0, 1, 3, 2]))
        return attend(
            op,
            query,
            key,
            value,
            bias,
            heads=self.heads,
            head_size=self.head_size,
            scale=self.scale,
        )

    def _split(self, op: OpBuilder, linear: Linear, x: ir.Value) -> ir.Value:
        return split_heads(op, linear(op, x), self.heads, self.head_size)

    def _pick(
        self, op: OpBuilder, contents: ir.Value, positions: ir.Value, buckets: ir.Value
    ) -> ir.Value:
        """Score each token with every bucket, and take the bucket of each pair."""
        scores = op.Mul(op.MatMul(contents, op.Transpose(positions, perm=[0, 1, 3, 2])), self.scale)
        shape = op.Concat(op.Shape(scores, start=0, end=3), op.Shape(buckets, start=3), axis=0)
        return op.GatherElements(scores, op.Expand(buckets, shape), axis=3)


class RelativeStack(Stack):
    """The layers, one after another, with one table of relative embeddings."""

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__(
            [
                Layer(config, Attention(config, SelfAttention(config)))
                for _ in range(config.num_hidden_layers)
            ]
        )
        self.rel_embeddings = RelativeEmbeddings(config)
        normalised = config.norm_rel_ebd == "layer_norm"
        self.LayerNorm = (
            LayerNorm(config.hidden_size, config.layer_norm_eps) if normalised else None
        )
        # From there on all distances share a row, so that a text may have any length.
        self.last = max(config.max_position_embeddings - 1, config.furthest)
        self.buckets = log_buckets(
            self.last, buckets=config.position_buckets, furthest=config.furthest, span=config.span
        )

    def forward(self, op: OpBuilder, x: ir.Value, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        relative = self.rel_embeddings(op)
        if self.LayerNorm is not None:
            relative = self.LayerNorm(op, relative)
        table = op.initializer(ir.tensor(self.buckets), "buckets")
        shifted = op.Add(op.Clip(distances(op, x), -self.last, self.last), self.last)
        buckets = op.Unsqueeze(op.Gather(table, shifted), axes=[0, 1])
        return super().forward(op, x, bias, relative, buckets)


class Deberta(Architecture):
    """The whole encoder: token ids to token embeddings."""

    Config: ClassVar[type[DebertaConfig]] = DebertaConfig
    prefix: ClassVar[str] = "deberta."
    ignored: ClassVar[tuple[str, ...]] = (
        "pooler.",
        "cls.",
        "lm_predictions.",
        "mask_predictions.",
        "classifier.",
        "qa_outputs.",
        "embeddings.position_embeddings.",
        "embeddings.position_ids",
    )

    def __init__(self, config: DebertaConfig) -> None:
        super().__init__(config)
        self.embeddings = Embeddings(config)
        self.encoder = RelativeStack(config)

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        return self.encoder(op, self.embeddings(op, input_ids), padding_bias(op, attention_mask))
