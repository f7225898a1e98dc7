"""NomicBERT: BERT with rotary positions and SwiGLU, normalised after each block.

Some layers of its second version have a mixture of experts, and none has a gate.

Source: transformers ``NomicBertModel``, in evaluation; ``NomicBertModel`` of
nomic-ai/nomic-bert-2048 for biases, plain blocks and experts.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from onnxscript import OpBuilder, ir, nn
from pydantic import AliasChoices, Field, model_validator

from polybake.baking.encoders.architecture import Architecture, Epsilon, HiddenAct, Layers, Size
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_config import OneThetaConfig, Theta
from polybake.baking.layers.activations import ACTIVATIONS
from polybake.baking.layers.attention import padding_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.experts import MixtureOfExperts
from polybake.baking.layers.gated_mlp import gated
from polybake.baking.layers.layer_norm import LayerNorm
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.rotary import Rotation, attend_fused, rotation
from polybake.baking.layers.stored_tensor import StoredTensor


class NomicBertConfig(OneThetaConfig):
    """NomicBERT's configuration, by transformers' keys or those of the code beside its weights."""

    hidden_size: Size = Field(validation_alias=AliasChoices("hidden_size", "n_embd"))
    num_hidden_layers: Layers = Field(validation_alias=AliasChoices("num_hidden_layers", "n_layer"))
    num_attention_heads: Size = Field(
        validation_alias=AliasChoices("num_attention_heads", "n_head")
    )
    intermediate_size: Size = Field(validation_alias=AliasChoices("intermediate_size", "n_inner"))
    type_vocab_size: Size = 2
    layer_norm_eps: Epsilon = Field(
        default=1e-12, validation_alias=AliasChoices("layer_norm_eps", "layer_norm_epsilon")
    )
    hidden_act: HiddenAct = "silu"
    rope_theta: Theta = Field(
        default=1_000.0, validation_alias=AliasChoices("rope_theta", "rotary_emb_base")
    )

    activation_function: Literal["swiglu", "gelu"] = "swiglu"
    qkv_proj_bias: bool = False
    mlp_fc1_bias: bool = False
    mlp_fc2_bias: bool = False
    num_experts: Annotated[int, Field(gt=1, le=256, strict=True)] | None = None
    moe_every_n_layers: Annotated[int, Field(strict=True)] = 0
    moe_top_k: Size = 1

    moe_normalize_expert_weights: Literal[False] | None = False
    expert_choice_router: Literal[False] | None = False
    num_shared_experts: Literal[0] | None = 0
    ffn_div: Literal[1] = 1
    prenorm: Literal[False] = False
    parallel_block: Literal[False] = False
    causal: Literal[False] = False
    use_rms_norm: Literal[False] | None = False
    rotary_emb_fraction: float = Field(default=1.0, ge=1.0, le=1.0)
    rotary_emb_interleaved: Literal[False] = False
    rotary_emb_scale_base: None = None
    rotary_scaling_factor: None = None
    scale_attn_weights: Literal[True] = True

    own_code: ClassVar[str | None] = "NomicBert"
    # Lengths that no table has, what is computed at once, and what GPT-2 or training alone has.
    passed_over: ClassVar[Collection[str]] = PASSED_OVER | {
        *("max_trained_positions", "n_positions", "n_ctx", "pad_vocab_size_multiple"),
        *("dense_seq_output", "fused_bias_fc", "fused_dropout_add_ln", "last_layer_subset"),
        *("reorder_and_upcast_attn", "add_pooling_layer", "moe_impl", "moe_resid_pdrop"),
        "router_aux_loss_coef",
    }

    def has_experts(self, layer: int) -> bool:
        """Whether a layer, counted from 0, has experts: every n-th one, from the second on."""
        every = self.moe_every_n_layers
        return every > 0 and layer % every == 1

    @model_validator(mode="after")
    def _experts_fit(self) -> Self:
        if self.moe_every_n_layers <= 0:
            return self
        if self.moe_top_k > (self.num_experts or 0):
            raise ValueError(
                f"moe_top_k {self.moe_top_k} is more than num_experts {self.num_experts}"
            )
        if self.activation_function != "gelu":
            raise ValueError(
                f"activation_function {self.activation_function!r} of experts is not supported, "
                "only 'gelu'"
            )
        return self


class Embeddings(nn.Module):
    """The sum of word and token type embeddings."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        self.word_embeddings = Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = Embedding(config.type_vocab_size, config.hidden_size)

    def forward(self, op: OpBuilder, input_ids: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        words = self.word_embeddings(op, input_ids)
        return op.Add(words, self.token_type_embeddings(op, op.Constant(value_int=0)))


class Attention(nn.Module):
    """Attention with rotary positions."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        self.heads, self.head_size = config.num_attention_heads, config.head_size
        mixed = self.heads * self.head_size
        self.Wqkv = Linear(config.hidden_size, 3 * mixed, bias=config.qkv_proj_bias)
        self.out_proj = Linear(mixed, config.hidden_size, bias=config.qkv_proj_bias)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        qkv = self.Wqkv(op, x)
        mixed = attend_fused(op, qkv, rotation, bias, heads=self.heads, head_size=self.head_size)
        return self.out_proj(op, mixed)


class GatedMLP(nn.Module):
    """SwiGLU; ``fc12`` is the gate."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.fc11 = Linear(size, wide, bias=config.mlp_fc1_bias)
        self.fc12 = Linear(size, wide, bias=config.mlp_fc1_bias)
        self.fc2 = Linear(wide, size, bias=config.mlp_fc2_bias)
        self.activation = config.hidden_act

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        up, gate = self.fc11(op, x), self.fc12(op, x)
        return self.fc2(op, gated(op, self.activation, gate, up))


class MLP(nn.Module):
    """A block without a gate."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.fc1 = Linear(size, wide, bias=config.mlp_fc1_bias)
        self.fc2 = Linear(wide, size, bias=config.mlp_fc2_bias)

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        return self.fc2(op, ACTIVATIONS["gelu"].build(op, self.fc1(op, x)))


def feed_forward(config: NomicBertConfig, layer: int) -> nn.Module:
    """Return the block behind a layer's attention."""
    if config.has_experts(layer):
        return MixtureOfExperts(
            config.hidden_size,
            config.intermediate_size,
            "gelu",
            experts=config.num_experts or 0,
            top=config.moe_top_k,
        )
    return GatedMLP(config) if config.activation_function == "swiglu" else MLP(config)


class Layer(nn.Module):
    """One layer, normalised after each block."""

    def __init__(self, config: NomicBertConfig, number: int) -> None:
        super().__init__()
        self.attn = Attention(config)
        self.norm1 = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.mlp = feed_forward(config, number)
        self.norm2 = LayerNorm(config.hidden_size, config.layer_norm_eps)

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = self.norm1(op, op.Add(x, self.attn(op, x, rotation, bias)))
        return self.norm2(op, op.Add(x, self.mlp(op, x)))


class Stack(nn.Module):
    """The layers, one after another."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [Layer(config, number) for number in range(config.num_hidden_layers)]
        )

    def forward(self, op: OpBuilder, x: ir.Value, rotation: Rotation, bias: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        for layer in self.layers:
            x = layer(op, x, rotation, bias)
        return x


class NomicBert(Architecture):
    """NomicBERT: token ids to token embeddings."""

    Config: ClassVar[type[NomicBertConfig]] = NomicBertConfig
    prefix: ClassVar[str] = "nomic_bert."
    ignored: ClassVar[tuple[str, ...]] = ("pooler.", "cls.", "classifier.")

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__(config)
        self.config = config
        self.embeddings = Embeddings(config)
        self.emb_ln = LayerNorm(config.hidden_size, config.layer_norm_eps)
        self.encoder = Stack(config)

    def arranged(self, stored: Mapping[str, StoredTensor]) -> dict[str, StoredTensor]:
        """Split the experts' weights, which lie one below another in two tensors of a layer."""
        found: dict[str, StoredTensor] = {}
        for name, tensor in stored.items():
            if name.endswith((".experts.mlp.w1", ".experts.mlp.w2")):
                found |= self._of_each_expert(name, tensor)
            else:
                found[name] = tensor
        return found

    def _of_each_expert(self, name: str, tensor: StoredTensor) -> dict[str, StoredTensor]:
        experts, wide = self.config.num_experts or 0, self.config.intermediate_size
        size = self.config.hidden_size
        if tensor.shape != (experts * wide, size):
            return {name: tensor}  # which is then unexpected
        before, _, weight = name.rpartition(".")
        return {
            f"{before}.{place}.{weight}.weight": tensor.rows(
                np.arange(place * wide, (place + 1) * wide), transposed=weight == "w2"
            )
            for place in range(experts)
        }

    def forward(self, op: OpBuilder, input_ids: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``."""
        turned = rotation(op, input_ids, self.config.frequencies())
        x = self.emb_ln(op, self.embeddings(op, input_ids))
        return self.encoder(op, x, turned, padding_bias(op, attention_mask))
