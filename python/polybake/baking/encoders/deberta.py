"""DeBERTa-v2 and v3: attention of contents and relative positions, kept apart.

The first version has a row for each distance; its queries, keys and values are one layer, head by
head, and keys have no bias.

Source: transformers ``DebertaV2Model`` and ``DebertaModel``; DeBERTa-v3's checkpoints are of the
type ``deberta-v2``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from onnxscript import OpBuilder, ir, nn
from pydantic import BeforeValidator, TypeAdapter

from polybake.baking.encoders import bert
from polybake.baking.encoders.architecture import Architecture, EncoderConfig, Options, Stored
from polybake.baking.encoders.layer import Attention
from polybake.baking.encoders.options import Names
from polybake.baking.encoders.transformer import Transformer
from polybake.baking.layers.attention import attend, padding_bias, split_heads
from polybake.baking.layers.positions import distances, log_buckets
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.stored_tensor import StoredTensor

_OPTIONAL_INTEGER: TypeAdapter[int | None] = TypeAdapter(int | None)


def _listed(value: object) -> object:
    return [part.strip() for part in value.lower().split("|")] if isinstance(value, str) else value


_KINDS: TypeAdapter[tuple[str, ...]] = TypeAdapter(
    Annotated[tuple[Literal["c2p", "p2c"], ...], BeforeValidator(_listed)]
)


@dataclass(frozen=True, kw_only=True)
class DebertaOptions(Options):
    """DeBERTa's options.

    Attributes:
        kinds: The scores of contents and positions that are added: ``c2p`` and ``p2c``.
        buckets: Logarithmic buckets of distances; each distance has its own where there are none.
        furthest: The distance at which they end.
        last: From there on all distances share a row, so that a text may have any length.
        share_key: Whether positions share the layers of queries and keys with contents.
        norm_positions: Whether the relative embeddings are normalised.
    """

    kinds: tuple[str, ...]
    buckets: int
    furthest: int
    last: int
    share_key: bool
    norm_positions: bool

    @property
    def span(self) -> int:
        """Relative embeddings on each side."""
        return self.buckets if self.buckets > 0 else self.furthest


def deberta(config: EncoderConfig) -> DebertaOptions:
    """DeBERTa-v2's configuration, for models with relative positions only."""
    config.only("relative_attention", True, needed=True)
    config.only("position_biased_input", False, needed=True)
    config.only("type_vocab_size", 0)
    config.only("conv_kernel_size", 0)
    # DeBERTa's own attention reads none of these.
    config.pass_over("is_causal", "add_cross_attention", "position_embedding_type")
    # The head's legacy layers, and what a convolution that is not there ends with.
    config.pass_over("conv_act", "legacy")
    options = replace(
        config.sizes(),
        activation=config.activation(),
        epsilon=config.epsilon("layer_norm_eps", default=1e-7),
    )
    for key, size in (
        ("embedding_size", options.hidden_size),
        ("attention_head_size", options.head_size),
    ):
        if config.value(_OPTIONAL_INTEGER, key, default=None) not in (None, size):
            raise config.refused(f"{key} {config.values[key]} is not supported, only {size}")
    rows = config.size("max_position_embeddings", at_most=2**20)
    furthest = config.integer("max_relative_positions", default=-1)
    furthest = furthest if furthest >= 1 else rows
    buckets = config.integer("position_buckets", default=-1)
    if buckets == 1 or furthest < 2:
        raise config.refused("position_buckets and max_relative_positions leave no position")
    norm = config.choice(("none", "layer_norm"), "norm_rel_ebd", default="none")
    kinds = config.value(_KINDS, "pos_att_type", default=())
    return DebertaOptions(
        **vars(options) | {"scale": 1 / math.sqrt(options.head_size * (1 + len({*kinds})))},
        kinds=kinds,
        buckets=buckets,
        furthest=furthest,
        last=max(rows - 1, furthest),
        share_key=config.flag("share_att_key"),
        norm_positions=norm == "layer_norm",
    )


def deberta_v1(config: EncoderConfig) -> Options:
    """The configuration of the first version."""
    config.only("position_buckets", -1)
    config.only("share_att_key", False)
    config.only("norm_rel_ebd", "none")
    options = deberta(config)
    return replace(options, biases=options.biases - {"key", "position_key"})


class DisentangledAttention(Attention):
    """Attention whose scores add content to position (c2p) and position to content (p2c)."""

    options: DebertaOptions

    def __init__(self, options: DebertaOptions, names: Names, layer: int) -> None:
        super().__init__(options, names, layer)
        hidden, own = options.hidden_size, not options.share_key
        query, key, _ = self.inputs
        self.layers = {"p2c": query, "c2p": key}
        if "c2p" in options.kinds and own:
            self.layers["c2p"] = self.linear("position_key", hidden, hidden)
        if "p2c" in options.kinds and own:
            self.layers["p2c"] = self.linear("position_query", hidden, hidden)

    def forward(  # type: ignore[override] # other inputs
        self, op: OpBuilder, x: ir.Value, bias: ir.Value, relative: ir.Value, buckets: ir.Value
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``.

        ``relative`` are the relative embeddings, float32 ``[1, buckets, hidden]``, and ``buckets``
        the row of these for each pair, int64 ``[1, 1, query, key]``.
        """
        heads, size = self.options.heads, self.options.head_size
        query, key, value = self.split(op, x, x)
        if "c2p" in self.options.kinds:
            positions = split_heads(op, self.layers["c2p"](op, relative), heads, size)
            bias = op.Add(bias, self._pick(op, query, positions, buckets))
        if "p2c" in self.options.kinds:
            positions = split_heads(op, self.layers["p2c"](op, relative), heads, size)
            turned = op.Transpose(buckets, perm=[0, 1, 3, 2])
            picked = self._pick(op, key, positions, turned)
            bias = op.Add(bias, op.Transpose(picked, perm=[0, 1, 3, 2]))
        scale = self.options.scale
        mixed = attend(op, query, key, value, bias, heads=heads, head_size=size, scale=scale)
        return self.output(op, mixed)

    def _pick(
        self, op: OpBuilder, contents: ir.Value, positions: ir.Value, buckets: ir.Value
    ) -> ir.Value:
        """Score each token with every bucket, and take the bucket of each pair."""
        scores = op.MatMul(contents, op.Transpose(positions, perm=[0, 1, 3, 2]))
        scores = op.Mul(scores, self.options.scale)
        shape = op.Concat(op.Shape(scores, start=0, end=3), op.Shape(buckets, start=3), axis=0)
        return op.GatherElements(scores, op.Expand(buckets, shape), axis=3)


class Deberta(Transformer):
    """DeBERTa: token ids to token embeddings, with one table of relative embeddings."""

    attention: ClassVar[Callable[..., nn.Module]] = DisentangledAttention
    options: DebertaOptions

    def __init__(self, options: DebertaOptions, names: Names) -> None:
        super().__init__(options, names)
        shape = [2 * options.span, options.hidden_size]
        self.relative = nn.Parameter(shape, name=f"{names['relative']}.weight")
        self.relative_norm = self.norm("relative_norm") if options.norm_positions else None

    def attention_inputs(
        self,
        op: OpBuilder,
        attention_mask: ir.Value,
        past: Past | None,  # noqa: ARG002 - what decoders have
    ) -> list[tuple[Any, ...]]:
        """Give the bias, the relative embeddings, and the row of these for each pair."""
        options, relative = self.options, op.Unsqueeze(self.relative, axes=[0])
        if self.relative_norm is not None:
            relative = self.relative_norm(op, relative)
        rows = log_buckets(
            options.last, buckets=options.buckets, furthest=options.furthest, span=options.span
        )
        table, last = op.initializer(ir.tensor(rows), "buckets"), options.last
        apart = op.Add(op.Clip(distances(op, attention_mask), -last, last), last)
        buckets = op.Unsqueeze(op.Gather(table, apart), axes=[0, 1])
        return [(padding_bias(op, attention_mask), relative, buckets)] * len(options.order)


#: Ends of names of the first version, and what the second calls the same.
_RENAMED = {
    "self.q_bias": "self.query_proj.bias",
    "self.v_bias": "self.value_proj.bias",
    "self.pos_proj.weight": "self.pos_key_proj.weight",
    "self.pos_q_proj.weight": "self.pos_query_proj.weight",
    "self.pos_q_proj.bias": "self.pos_query_proj.bias",
}
_FUSED = "self.in_proj.weight"


def _arranged(options: Options, stored: Stored) -> dict[str, StoredTensor]:
    """Split the layer of queries, keys and values, and give all the names of DeBERTa-v2."""
    arranged, size = {}, options.hidden_size
    for name, tensor in stored.items():
        if name.endswith(_FUSED) and tensor.shape == (3 * size, size):
            rows = np.arange(3 * size).reshape(options.heads, 3, -1)
            for number, part in enumerate(("query", "key", "value")):
                to = f"{name.removesuffix(_FUSED)}self.{part}_proj.weight"
                arranged[to] = tensor.rows(rows[:, number].ravel())
        else:
            end = next((end for end in _RENAMED if name.endswith(end)), "")
            arranged[name.removesuffix(end) + _RENAMED.get(end, "")] = tensor
    return arranged


NAMES = bert.NAMES | {
    "query": "attention.self.query_proj",
    "key": "attention.self.key_proj",
    "value": "attention.self.value_proj",
    "position_query": "attention.self.pos_query_proj",
    "position_key": "attention.self.pos_key_proj",
    "relative": "encoder.rel_embeddings",
    "relative_norm": "encoder.LayerNorm",
}
IGNORED = (
    *("pooler.", "cls.", "lm_predictions.", "mask_predictions.", "classifier.", "qa_outputs."),
    *("embeddings.position_embeddings.", "embeddings.position_ids"),
)
ARCHITECTURES = {
    "deberta": Architecture(deberta_v1, NAMES, "deberta.", IGNORED, Deberta, _arranged),
    "deberta-v2": Architecture(deberta, NAMES, "deberta.", IGNORED, Deberta),
}
