"""Qwen3: Qwen2 with normalised heads, whose size is apart from the hidden size.

Source: transformers ``Qwen3Model``, in evaluation; ``Qwen3BidirectionalModel`` of voyage-4-nano,
which attends to both sides and ends in a linear layer.
"""

from collections.abc import Collection, Mapping
from typing import ClassVar

from onnxscript import OpBuilder, ir

from polybake.baking.encoders.architecture import Size
from polybake.baking.encoders.decoder import Decoder
from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.encoders.qwen2 import Qwen2Config
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.prefix_cache import Past
from polybake.baking.layers.rms_norm import RMSNorm

#: Voyage's class.
_BOTH_WAYS = "Qwen3BidirectionalModel"


class Qwen3Config(Qwen2Config):
    """Qwen3's configuration."""

    head_norm: ClassVar[type[RMSNorm] | None] = RMSNorm
    own_code: ClassVar[str | tuple[str, ...] | None] = "Qwen3Bidirectional"
    passed_over: ClassVar[Collection[str]] = PASSED_OVER - {"architectures", "num_labels"}

    architectures: tuple[str, ...] | None = None
    num_labels: Size | None = None

    head_dim: Size | None = 128
    attention_bias: bool = False

    @property
    def input_bias(self) -> bool:
        """Whether queries, keys and values have a bias."""
        return self.attention_bias

    @property
    def output_bias(self) -> bool:
        """Whether the mixed values' layer has a bias."""
        return self.attention_bias

    @property
    def both_ways(self) -> bool:
        """Whether the model's class is Voyage's, which attends to both sides."""
        code = (self.model_extra or {}).get("auto_map")
        named = map(str, code.values()) if isinstance(code, Mapping) else ()
        return any(name.endswith(_BOTH_WAYS) for name in (*(self.architectures or ()), *named))

    @property
    def said(self) -> Mapping[str, bool]:
        """The keys that say whether tokens attend to those before them alone, and what they say."""
        return {**super().said, **({"architectures": False} if self.both_ways else {})}

    @property
    def causal(self) -> bool:
        """Whether a token attends to itself and those before it alone."""
        return super().causal and not self.both_ways

    @property
    def projection(self) -> int | None:
        """Elements that the last layer of Voyage's class gives; None without such a layer."""
        return self.num_labels if self.both_ways else None

    @property
    def output_size(self) -> int:
        """Elements of a token's embedding."""
        return self.projection or self.hidden_size


class Qwen3(Decoder):
    """Qwen3: token ids to token embeddings."""

    Config: ClassVar[type[Qwen3Config]] = Qwen3Config

    def __init__(self, config: Qwen3Config) -> None:
        super().__init__(config)
        size = config.projection
        self.linear = None if size is None else Linear(config.hidden_size, size, bias=False)

    def forward(
        self,
        op: OpBuilder,
        input_ids: ir.Value,
        attention_mask: ir.Value,
        past: Past | None = None,
    ) -> ir.Value:
        """Map int64 ``[batch, sequence]`` each to float32 ``[batch, sequence, size]``."""
        x = super().forward(op, input_ids, attention_mask, past)
        return x if self.linear is None else self.linear(op, x)


class PplxQwen3Config(Qwen3Config):
    """The configuration of Perplexity's class, whose name says that it attends to both sides."""

    own_code: ClassVar[str | tuple[str, ...] | None] = ("PPLXQwen3Model", "PPLXQwen3Config")
    named_both_ways: ClassVar[bool] = True


class PplxQwen3(Qwen3):
    """Qwen3 whose tokens attend to both sides.

    Source: ``PPLXQwen3Model`` of perplexity-ai/pplx-embed-v1.
    """

    Config: ClassVar[type[Qwen3Config]] = PplxQwen3Config
