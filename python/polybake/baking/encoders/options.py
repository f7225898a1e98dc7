"""What a transformer computes, as config.json says it, and what its checkpoint calls the parts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from onnxscript import nn

from polybake.baking.layers.attention import AttentionWindow
from polybake.baking.layers.linear import Linear
from polybake.baking.layers.norms import LayerNorm

#: A checkpoint's name of each part. Those of a layer stand below its name, ``layer``, in which
#: ``{}`` is its number. Queries, keys and values are layers of their own, or one, ``qkv``; so are
#: the halves of a gated feed-forward block, ``gate`` and ``up``, ``gate_up`` or ``up_gate``.
#: Without a gate it begins with ``widen``.
Names = Mapping[str, str]

#: Groups of linear layers, which have biases together.
INPUTS = frozenset({"query", "key", "value", "qkv", "position_query", "position_key"})
OUTPUT = frozenset({"output"})
UP = frozenset({"widen", "gate", "up", "gate_up", "up_gate"})
DOWN = frozenset({"down"})


@dataclass(frozen=True)
class Experts:
    """A mixture of experts in every n-th layer, from the second on."""

    count: int
    top: int
    every: int


@dataclass(frozen=True)
class Options:
    """What a transformer computes. The defaults are BERT's.

    Attributes:
        embedding_size: Elements of a token's row, where they are projected to the hidden size.
        embedding_scale: The factor of a token's row.
        positions: Rows of the position table; 0 without one.
        position_offset: Rows before these that no position has.
        padding_id: The id behind which positions are counted; None counts all tokens from 0.
        token_types: Rows of the table of token types; 0 without one.
        takes_types: Whether the tokens of a pair have types; else all have type 0.
        norms: Whether embeddings and the sum of each block are normalised after it, or the input of
            each block before it, and what the last one gives; ``both`` also normalises the output
            of each block before its sum.
        second_norm: Whether what attention gives is added and normalised once more.
        first_norm: Whether the first layer's attention has a norm before it; else embeddings are
            normalised in its place.
        biases: The linear layers that have a bias.
        key_value_heads: Heads of keys and values, which query heads share in groups.
        head_norm: Whether queries and keys are normalised, each head, or all heads together.
        scale: The factor of the scores; None: ``1 / sqrt(head_size)``.
        gated: Whether an activated gate multiplies the feed-forward block.
        frequencies: Radians per position of each pair of a head, by layer; empty without rotation.
        windows: How many tokens to each side a token attends to, by layer; None: all of them.
        distance_bias: ALiBi, or the buckets of a relative bias and their furthest distance.
        shared: The weights that each layer takes, by their number; empty: its own.
        group_size: Layers of a group, where the name of a layer has two numbers.
        cached: Whether the keys and values of prompts may be computed once.
        transformers_states: Whether what the layers give are transformers' ``hidden_states``.
        projection: Elements that a linear layer behind all others gives.
        adapters: The prompt of each adapter in the checkpoint, by its name.
        adapter: The number of the adapter that is applied, and the factor of its product.
    """

    vocab_size: int
    hidden_size: int
    num_layers: int
    heads: int
    key_value_heads: int
    head_size: int
    intermediate_size: int
    activation: str = "gelu"
    epsilon: float = 1e-12
    norm: Callable[..., nn.Module] = LayerNorm
    linear: type[Linear] = Linear
    embedding_size: int | None = None
    embedding_scale: float = 1.0
    positions: int = 0
    position_offset: int = 0
    padding_id: int | None = None
    token_types: int = 0
    takes_types: bool = False
    norms: Literal["after", "before", "both"] = "after"
    second_norm: bool = False
    first_norm: bool = True
    biases: frozenset[str] = INPUTS | OUTPUT | UP | DOWN
    head_norm: Literal["each", "all"] | None = None
    scale: float | None = None
    gated: bool = False
    experts: Experts | None = None
    frequencies: tuple[tuple[float, ...], ...] = ()
    causal: bool = False
    windows: tuple[int | None, ...] = ()
    distance_bias: Literal["alibi"] | tuple[int, int] | None = None
    shared: tuple[int, ...] = ()
    group_size: int = 1
    cached: bool = False
    transformers_states: bool = False
    projection: int | None = None
    adapters: Mapping[str, str] = field(default_factory=dict)
    adapter: tuple[int, float] | None = None

    @property
    def output_size(self) -> int:
        """Elements of a token's embedding, or of a text's."""
        return self.projection or self.hidden_size

    @property
    def order(self) -> tuple[int, ...]:
        """The number of the weights that each layer takes."""
        return self.shared or tuple(range(self.num_layers))

    def attention_windows(self) -> list[AttentionWindow]:
        """How far tokens attend in each layer.

        A causal window counts the token itself, one to both sides does not.
        """
        windows = self.windows or (None,) * len(self.order)
        if self.causal:
            return [AttentionWindow(window and window - 1, 0) for window in windows]
        return [AttentionWindow(window, window) for window in windows]
