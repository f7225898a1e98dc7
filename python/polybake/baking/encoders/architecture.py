"""The base of all architectures: a configuration, and modules named like the checkpoint."""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, ClassVar, Literal, Self

from onnxscript import ir, nn
from pydantic import AfterValidator, ConfigDict, Field

from polybake.baking.encoders.passed_over import PASSED_OVER
from polybake.baking.layers.stored_tensor import StoredTensor
from polybake.baking.layers.weights import Prefix
from polybake.base.files.known_keys import KnownKeys
from polybake.base.modelfile.manifest import Feed

#: transformers' ``hidden_act`` to our name of the same function.
_HIDDEN_ACTS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "quick_gelu": "quick_gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
    "tanh": "tanh",
}


def _known_act(name: str) -> str:
    if name not in _HIDDEN_ACTS:
        raise ValueError(f"unknown {name!r}; known are: {', '.join(sorted(_HIDDEN_ACTS))}")
    return _HIDDEN_ACTS[name]


Size = Annotated[int, Field(gt=0, strict=True)]
#: The limit is far above any encoder's; a hostile number would build layers until memory is full.
Layers = Annotated[int, Field(gt=0, le=256, strict=True)]
#: The number that a normalisation adds to the variance.
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
#: An activation by transformers' name, read as a key of `layers.activations.ACTIVATIONS`.
HiddenAct = Annotated[str, AfterValidator(_known_act)]


class EncoderConfig(KnownKeys):
    """The keys of config.json that decide the computation, each with transformers' default.

    An architecture adds its own. A key that it does not compute is declared with the one value
    that changes nothing, such as ``Literal[False]``, and any other value is refused by its name;
    one that changes nothing whatever it says is passed over.
    """

    model_config = ConfigDict(frozen=True, validate_default=True)
    passed_over: ClassVar[Collection[str]] = PASSED_OVER
    hints: ClassVar[Mapping[str, str]] = {"auto_map": "no code of a model is run"}
    #: Prefixes of the classes of a model's own code, if it is known to compute the same.
    own_code: ClassVar[str | tuple[str, ...] | None] = None

    vocab_size: Size
    hidden_size: Size
    num_hidden_layers: Layers
    num_attention_heads: Size
    is_decoder: Literal[False] = False
    #: Decoders compute it. In transformers it makes most encoders causal, too.
    is_causal: Literal[False] | None = False
    #: Weights that are quantized may look like others, and mean something else.
    quantization_config: None = None

    @classmethod
    def passes_over(cls, key: str, value: object) -> bool:
        """Return whether a key changes no vector, like code that is known to compute the same."""
        if key != "auto_map" or cls.own_code is None or not isinstance(value, dict):
            return super().passes_over(key, value)
        return all(str(one).rpartition(".")[2].startswith(cls.own_code) for one in value.values())

    @property
    def output_size(self) -> int:
        """Elements of a token's embedding."""
        return self.hidden_size

    @property
    def adapters(self) -> Mapping[str, str]:
        """The adapters in the checkpoint, each with the prompt that its texts begin with."""
        return {}

    def adapted(self, adapter: str) -> Self:
        """Return the configuration with one of `adapters` applied."""
        raise ValueError(f"has no adapter {json.dumps(adapter)}, nor any other; leave adapter out")

    @property
    def token_types(self) -> int:
        """Rows of the table of token types."""
        return 1


def check_heads(config: EncoderConfig) -> None:
    """Check that the hidden size is a multiple of the number of heads."""
    if config.hidden_size % config.num_attention_heads:
        raise ValueError(
            f"hidden_size {config.hidden_size} is no multiple of "
            f"num_attention_heads {config.num_attention_heads}"
        )


class Architecture(nn.Module):
    """An encoder: token ids to token embeddings.

    Its attributes are named as the checkpoint names its weights, without `prefix`.
    A subclass is made from its `Config`, and its ``forward(op, **feeds)`` maps int64
    ``[batch, sequence]`` each to float32 ``[batch, sequence, hidden]``.
    """

    Config: ClassVar[type[EncoderConfig]]
    #: The inputs of ``forward``, by name and in the order of the graph's inputs.
    feeds: ClassVar[tuple[Feed, ...]] = ("input_ids", "attention_mask")
    #: Whether ``forward`` can take ``token_type_ids``.
    typed: ClassVar[bool] = False
    #: Whether ``forward`` gives one embedding a text, float32 ``[batch, size]``.
    pooled: ClassVar[bool] = False
    #: The prefixes of each name in checkpoints that also hold a head, such as ``bert.``.
    prefix: ClassVar[Prefix]
    #: Prefixes of the names of weights for other uses, such as heads for steps or other tasks, and
    #: of buffers that are no weights. Any other tensor is an error.
    ignored: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: EncoderConfig) -> None:  # noqa: ARG002 - what subclasses take
        super().__init__()
        #: The input of the first layer, then the output of each layer, once ``forward`` has run;
        #: empty if they are not known to be transformers' ``hidden_states``.
        self.hidden_states: list[ir.Value] = []

    def arranged(self, stored: Mapping[str, StoredTensor]) -> Mapping[str, StoredTensor]:
        """Return a checkpoint's tensors by the names of this module tree.

        ``stored`` has them by their names without `prefix`. Most architectures keep them; others
        split a tensor, or make one of several.
        """
        return stored
