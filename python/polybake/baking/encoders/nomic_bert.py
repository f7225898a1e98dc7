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

from polybake.baking.encoders.architecture import Epsilon, HiddenAct, Layers, Size
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.rotary_bert import MLP, RotaryBert, RotaryBertConfig
from polybake.baking.encoders.rotary_config import Theta
from polybake.baking.layers.experts import MixtureOfExperts
from polybake.baking.layers.gated_mlp import gated
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.stored_tensor import StoredTensor


class NomicBertConfig(RotaryBertConfig):
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

    @property
    def attention_biases(self) -> bool:
        """Whether the layers of attention have biases."""
        return self.qkv_proj_bias

    @property
    def inner_bias(self) -> bool:
        """Whether the layers that widen a token have biases."""
        return self.mlp_fc1_bias

    @property
    def outer_bias(self) -> bool:
        """Whether those that narrow it again have biases."""
        return self.mlp_fc2_bias

    @property
    def plain_act(self) -> str:
        """The activation of a block without a gate, which ``hidden_act`` does not name."""
        return "gelu"

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


class GatedMLP(nn.Module):
    """SwiGLU; ``fc12`` is the gate."""

    def __init__(self, config: NomicBertConfig) -> None:
        super().__init__()
        size, wide = config.hidden_size, config.intermediate_size
        self.fc11 = Linear(size, wide, bias=config.inner_bias)
        self.fc12 = Linear(size, wide, bias=config.inner_bias)
        self.fc2 = Linear(wide, size, bias=config.outer_bias)
        self.activation = config.hidden_act

    def forward(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        up, gate = self.fc11(op, x), self.fc12(op, x)
        return self.fc2(op, gated(op, self.activation, gate, up))


class NomicBert(RotaryBert):
    """NomicBERT: token ids to token embeddings."""

    Config: ClassVar[type[NomicBertConfig]] = NomicBertConfig
    prefix: ClassVar[str] = "nomic_bert."
    ignored: ClassVar[tuple[str, ...]] = ("pooler.", "cls.", "classifier.")

    config: NomicBertConfig

    def feed_forward(self, place: int) -> nn.Module:
        """Return a layer's block: experts, a gated one or a plain one."""
        config = self.config
        if config.has_experts(place):
            return MixtureOfExperts(
                config.hidden_size,
                config.intermediate_size,
                "gelu",
                experts=config.num_experts or 0,
                top=config.moe_top_k,
            )
        return GatedMLP(config) if config.activation_function == "swiglu" else MLP(config)

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
