"""The decoder that Llama, Mistral, Qwen2, Qwen3, Gemma and Gemma 3 are variants of.

Source: transformers ``LlamaModel``, ``MistralModel``, ``Qwen2Model``, ``Qwen3Model`` and
``GemmaModel``, in evaluation.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from onnxscript import OpBuilder, ir, nn
from pydantic import model_validator

from polybake.baking.encoders.architecture import Architecture, Epsilon, HiddenAct, Size
from polybake.baking.encoders.rotary_config import OneThetaConfig, RotaryConfig
from polybake.baking.layers.attention import attend, split_heads
from polybake.baking.layers.attention_window import AttentionWindow, window_bias
from polybake.baking.layers.embedding import Embedding
from polybake.baking.layers.gated_mlp import GatedMLP
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.rms_norm import RMSNorm
from polybake.baking.layers.rotary import Rotation, rotation
from polybake.base.files.model_folder import Attention

_OWN_CODE = (
    "no code of a model is run: where it only says what tokens attend to, say below [model] in "
    'polybake.toml: attention = "both", or attention = "causal"'
)


class GroupedConfig(RotaryConfig):
    """Attention whose query heads share key and value heads in groups."""

    #: The normalisation of each head of queries and keys.
    head_norm: ClassVar[type[RMSNorm] | None] = None

    num_key_value_heads: Size
    rms_norm_eps: Epsilon = 1e-6

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have a bias."""
        return False

    @property
    def output_bias(self) -> bool:
        """Whether the mixed values' layer has a bias."""
        return False

    @property
    def scale(self) -> float | None:
        """The factor of the scores; None: ``1 / sqrt(head_size)``."""
        return None

    @model_validator(mode="after")
    def _groups_fit(self) -> Self:
        if self.num_attention_heads % self.num_key_value_heads:
            raise ValueError(
                f"num_attention_heads {self.num_attention_heads} is no multiple of "
                f"num_key_value_heads {self.num_key_value_heads}"
            )
        return self


class BiasedConfig(GroupedConfig):
    """All four layers of attention have biases, or none."""

    attention_bias: bool = False

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have a bias."""
        return self.attention_bias

    @property
    def output_bias(self) -> bool:
        """Whether the mixed values' layer has a bias."""
        return self.attention_bias


def keys_values(layer: int) -> tuple[str, str]:
    """Return the names of a layer's keys and values, as exports of transformers have them."""
    return f"present.{layer}.key", f"present.{layer}.value"


def every_head_has_its_own(given: Any) -> Any:
    """As many keys and values as queries, transformers' default of some families."""
    heads = given.get("num_attention_heads") if isinstance(given, Mapping) else None
    if heads is None or given.get("num_key_value_heads") is not None:
        return given
    return {**given, "num_key_value_heads": heads}


class LayersConfig(OneThetaConfig, GroupedConfig):
    """The configuration of a decoder's layers, whatever their tokens attend to."""

    #: The table of tokens, and the normalisation before each block and behind the last layer.
    embedding: ClassVar[type[Embedding]] = Embedding
    norm: ClassVar[type[RMSNorm]] = RMSNorm

    hidden_act: HiddenAct = "silu"

    def attention_windows(self) -> list[AttentionWindow]:
        """How far tokens attend in each layer: to all."""
        return [AttentionWindow()] * self.num_hidden_layers


class DecoderConfig(LayersConfig):
    """The common configuration of Qwen2, Qwen3, Mistral, Llama and Gemma."""

    is_causal: bool = True  # type: ignore[assignment] # computed, where others refuse it
    #: Read by transformers for Gemma alone, else by the code of models that were trained so.
    use_bidirectional_attention: bool | None = None
    hints: ClassVar[Mapping[str, str]] = {"auto_map": _OWN_CODE}
    #: Whether the ``model_type`` itself says that tokens attend to both sides.
    named_both_ways: ClassVar[bool] = False

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if len({*self.said.values()}) > 1:
            raise ValueError(
                f"{' and '.join(self.said)} contradict each other; keep what the model was trained "
                "with"
            )
        return self

    @property
    def said(self) -> Mapping[str, bool]:
        """The keys that say whether tokens attend to those before them alone, and what they say."""
        keys = {"is_causal": self.is_causal} if "is_causal" in self.model_fields_set else {}
        if self.use_bidirectional_attention is not None:
            keys["use_bidirectional_attention"] = not self.use_bidirectional_attention
        if self.named_both_ways:
            keys["model_type"] = False
        return keys

    @property
    def causal(self) -> bool:
        """Whether a token attends to itself and those before it alone."""
        both_ways = self.named_both_ways or self.use_bidirectional_attention
        return self.is_causal and not both_ways

    def attending(self, attention: Attention) -> Self:
        """Return the configuration with the attention that the user says."""
        causal = attention == "causal"
        for key, value in self.said.items():
            if value != causal:
                raise ValueError(
                    f'{key} contradicts attention = "{attention}" in polybake.toml; leave one out'
                )
        return self.model_copy(update={"is_causal": causal})

    def windows(self) -> list[int | None]:
        """Return the sliding window of each layer; None for a layer without a window."""
        return [None] * self.num_hidden_layers

    def attention_windows(self) -> list[AttentionWindow]:
        """How far tokens attend in each layer.

        A causal window counts the token itself, one to both sides does not.
        """
        if self.causal:
            return [
                AttentionWindow(before=window and window - 1, after=0) for window in self.windows()
            ]
        return [AttentionWindow(before=window, after=window) for window in self.windows()]


class GroupedAttention(nn.Module):
    """Attention with rotary positions and grouped heads.

    Attributes:
        layer: The number that keys and values have in their names; None leaves them without.
    """

    def __init__(self, config: GroupedConfig, layer: int | None = None) -> None:
        super().__init__()
        self.layer = layer
        self.heads = config.num_attention_heads
        self.groups = config.num_key_value_heads
        self.head_size = config.head_size
        self.scale = config.scale
        query, key = self.heads * self.head_size, self.groups * self.head_size
        self.q_proj = Linear(config.hidden_size, query, bias=config.input_bias)
        self.k_proj = Linear(config.hidden_size, key, bias=config.input_bias)
        self.v_proj = Linear(config.hidden_size, key, bias=config.input_bias)
        self.o_proj = Linear(query, config.hidden_size, bias=config.output_bias)
        norm = config.head_norm
        self.q_norm = None if norm is None else norm(self.head_size, config.rms_norm_eps)
        self.k_norm = None if norm is None else norm(self.head_size, config.rms_norm_eps)

    def forward(
        self,
        op: OpBuilder,
        x: ir.Value,
        rotation: Rotation,
        bias: ir.Value,
        past: Past | None = None,
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        query = split_heads(op, self.q_proj(op, x), self.heads, self.head_size)
        key = split_heads(op, self.k_proj(op, x), self.groups, self.head_size)
        value = split_heads(op, self.v_proj(op, x), self.groups, self.head_size)
        if self.q_norm is not None and self.k_norm is not None:
            query, key = self.q_norm(op, query), self.k_norm(op, key)
        query, key = rotation.turn(op, query), rotation.turn(op, key)
        if self.layer is not None:
            key.name, value.name = keys_values(self.layer)
            if past is not None:
                key, value = past.before(op, self.layer, key, value)
        mixed = attend(
            op,
            query,
            key,
            value,
            bias,
            heads=self.heads,
            head_size=self.head_size,
            key_value_heads=self.groups,
            scale=self.scale,
        )
        return self.o_proj(op, mixed)


class Layer(nn.Module):
    """One layer, normalised before each block."""

    def __init__(self, config: LayersConfig, number: int) -> None:
        super().__init__()
        size, epsilon = config.hidden_size, config.rms_norm_eps
        self.input_layernorm = config.norm(size, epsilon)
        self.self_attn = GroupedAttention(config, number)
        self.post_attention_layernorm = config.norm(size, epsilon)
        self.mlp = GatedMLP(size, config.intermediate_size, config.hidden_act)

    def forward(
        self,
        op: OpBuilder,
        x: ir.Value,
        rotation: Rotation,
        bias: ir.Value,
        past: Past | None = None,
    ) -> ir.Value:
        """Keep the shape, float32 ``[batch, sequence, hidden]``."""
        x = op.Add(x, self.self_attn(op, self.input_layernorm(op, x), rotation, bias, past))
        return op.Add(x, self.mlp(op, self.post_attention_layernorm(op, x)))


class Decoder(Architecture):
    """Llama, Mistral, Qwen2, Qwen3 or Gemma, as the configuration says, without a head."""

    prefix: ClassVar[str] = "model."
    ignored: ClassVar[tuple[str, ...]] = ("lm_head.", "score.", "qa_outputs.")

    def __init__(self, config: LayersConfig) -> None:
        super().__init__(config)
        self.config = config
        self.embed_tokens = config.embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = config.norm(config.hidden_size, config.rms_norm_eps)

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        past: Past | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``.

        Behind ``past``, which a causal decoder alone may have, ``input_ids`` are those of the rest,
        ``[batch, rest]``, and so are the embeddings, ``[batch, rest, hidden]``.
        """
        windows = self.config.attention_windows()
        biases = {
            window: window_bias(op, attention_mask, window) for window in dict.fromkeys(windows)
        }
        turned = rotation(op, attention_mask, self.config.frequencies())
        if past is not None:
            biases = {window: past.rest(op, bias, 2) for window, bias in biases.items()}
            turned = Rotation(past.rest(op, turned.cos, 0), past.rest(op, turned.sin, 0))
        x = self.embed_tokens(op, input_ids)
        for layer, window in zip(self.layers, windows, strict=True):
            x = layer(op, x, turned, biases[window], past)
        return self.norm(op, x)
