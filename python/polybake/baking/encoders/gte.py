"""GTE: BERT with rotary positions and a gated feed-forward block, normalised after each block.

The first checkpoints call themselves ``new`` and bring their own code; those of transformers are
``gte`` and name the same weights alike. Only ``new`` has NTK scaling.

Source: transformers ``GteModel``, in evaluation; ``NewModel`` of the checkpoints' own code.
"""

from typing import Annotated, ClassVar, Literal

from onnxscript import OpBuilder, ir, nn
from pydantic import AliasChoices, ConfigDict, Field

from polybake.baking.encoders.architecture import Architecture, Epsilon, HiddenAct
from polybake.baking.encoders.rotary_config import OneThetaConfig, RotaryConfig, Theta
from polybake.baking.layers.attention import padding_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.gated_mlp import gated
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.rotary import Rotation, attend_fused, frequencies, rotation
from polybake.baking.layers.stack import Stack
from polybake.baking.layers.weights import Prefix
from polybake.base.files.known_keys import KnownKeys


class Sizes(RotaryConfig):
    """The common configuration of ``gte`` and ``new``."""

    type_vocab_size: Annotated[int, Field(ge=0, strict=True)] = 1
    layer_norm_eps: Epsilon = 1e-12
    hidden_act: HiddenAct = "gelu"

    layer_norm_type: Literal["layer_norm"] = "layer_norm"
    position_embedding_type: Literal["rope"] = "rope"
    pack_qkv: Literal[True] = True
    logn_attention_scale: Literal[False] = False

    @property
    def token_types(self) -> int:
        """Rows of the table of token types."""
        return self.type_vocab_size


class GteConfig(Sizes, OneThetaConfig):
    """The configuration of ``gte``."""

    own_code: ClassVar[str | None] = "Gte"

    rope_theta: Theta = 160_000.0


class Ntk(KnownKeys):
    """Fixed NTK scaling of rotary positions."""

    model_config = ConfigDict(frozen=True)

    type: Literal["ntk"] = Field(validation_alias=AliasChoices("type", "rope_type"))
    factor: Annotated[float, Field(ge=1, allow_inf_nan=False)]
    mixed_b: None = None


class NewConfig(Sizes):
    """The configuration of ``new``."""

    own_code: ClassVar[str | None] = "New"

    rope_theta: Theta = 10_000.0
    rope_scaling: Ntk | None = None
    rope_parameters: None = None

    def frequencies(self) -> list[float]:
        """Radians per position of each pair."""
        factor = self.rope_scaling.factor if self.rope_scaling else 1.0
        return frequencies(self.head_size, self.rope_theta, ntk=factor)


class Embeddings(nn.Module):
    """Word embeddings and those of token types, if there are any, normalised."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()
        size, types = config.hidden_size, config.type_vocab_size
        self.word_embeddings = Embedding(config.vocab_size, size)
        self.token_type_embeddings = Embedding(types, size) if types else None
        self.LayerNorm = LayerNorm(size, config.layer_norm_eps)

    def forward(
        self, op: OpBuilder, input_ids: ir.Value, token_type_ids: ir.Value | None = None
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` to float32 ``[batch, sequence, hidden]``.

        Every token of a single text is of type 0.
        """
        x = self.word_embeddings(op, input_ids)
        if self.token_type_embeddings is not None:
            kinds = op.Constant(value_int=0) if token_type_ids is None else token_type_ids
            x = op.Add(x, self.token_type_embeddings(op, kinds))
        return self.LayerNorm(op, x)


class Attention(nn.Module):
    """Attention with rotary positions."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        self.qkv_proj = Linear(config.hidden_size, 3 * config.hidden_size)
        self.o_proj = Linear(config.hidden_size, config.hidden_size)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        qkv = self.qkv_proj(op, x)
        mixed = attend_fused(op, qkv, rotation, bias, heads=self.heads, head_size=self.head_size)
        return self.o_proj(op, mixed)


class MLP(nn.Module):
    """A gated block; the second half of the wide layer is the gate."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.up_gate_proj = Linear(size, 2 * wide, bias=False)
        self.down_proj = Linear(wide, size)
        self.activation = config.hidden_act

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        up, gate = op.Split(self.up_gate_proj(op, x), num_outputs=2, axis=-1, _outputs=2)
        return self.down_proj(op, gated(op, self.activation, gate, up))


class Layer(nn.Module):
    """One layer, normalised after each block."""

    def __init__(self, config: Sizes) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.attn_ln = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.mlp = MLP(config)
        self.mlp_ln = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.attn_ln(op, op.Add(x, self.attention(op, x, rotation, bias)))
        return self.mlp_ln(op, op.Add(x, self.mlp(op, x)))


class Gte(Architecture):
    """GTE: token ids to token embeddings."""

    Config: ClassVar[type[GteConfig] | type[NewConfig]] = GteConfig
    typed: ClassVar[bool] = True
    #: Whichever of the two names the checkpoint has, transformers loads it.
    prefix: ClassVar[Prefix] = ("gte.", "new.")
    ignored: ClassVar[tuple[str, ...]] = ("pooler.", "lm_head.", "classifier.", "qa_outputs.")

    def __init__(self, config: GteConfig | NewConfig) -> None:
        super().__init__(config)
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = Stack([Layer(config) for _ in range(config.num_hidden_layers)])

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        token_type_ids: ir.Value | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        turned = rotation(op, input_ids, self.config.frequencies())
        x = self.embeddings(op, input_ids, token_type_ids)
        return self.encoder(op, x, turned, padding_bias(op, attention_mask))


class New(Gte):
    """GTE as its first checkpoints have it."""

    Config: ClassVar[type[GteConfig] | type[NewConfig]] = NewConfig
