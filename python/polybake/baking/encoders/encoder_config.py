"""The keys of config.json that architectures share, read as options of a transformer."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter

from polybake.baking.encoders.options import Options
from polybake.baking.layers.rotary import frequencies
from polybake.base.files.settings import NEEDED, Settings

#: transformers' ``hidden_act`` to our name of the same function.
HIDDEN_ACTS = {
    **{name: name for name in ("gelu", "quick_gelu", "relu", "silu", "tanh")},
    **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_fast"), "gelu_tanh"),
    "gelu_python": "gelu",
    "swish": "silu",
}

#: Far above any encoder's; a hostile number would fill memory before a weight is read.
MOST_LAYERS, _LARGEST_HEAD = 256, 2**16


def _known_act(name: str) -> str:
    if name not in HIDDEN_ACTS:
        raise ValueError(f"unknown {name!r}; known are: {', '.join(sorted(HIDDEN_ACTS))}")
    return HIDDEN_ACTS[name]


#: The number that a normalisation adds to the variance.
Epsilon = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
#: An activation by transformers' name, read as a key of `layers.activations.ACTIVATIONS`.
HiddenAct = Annotated[str, AfterValidator(_known_act)]
LayerType = Literal["full_attention", "sliding_attention"]

_EPSILON: TypeAdapter[float] = TypeAdapter(Epsilon)
_HIDDEN_ACT: TypeAdapter[str] = TypeAdapter(HiddenAct)
_OPTIONAL_THETA: TypeAdapter[float | None] = TypeAdapter(
    Annotated[float, Field(gt=0, allow_inf_nan=False)] | None
)
_WHOLE: TypeAdapter[float | None] = TypeAdapter(Annotated[float, Field(ge=1, le=1)] | None)
_LAYER_TYPES: TypeAdapter[tuple[LayerType, ...] | None] = TypeAdapter(tuple[LayerType, ...] | None)


class EncoderConfig(Settings):
    """A config.json, whose keys are read as options of a transformer."""

    def sizes(
        self,
        *,
        hidden_size: tuple[str, ...] = ("hidden_size",),
        num_layers: tuple[str, ...] = ("num_hidden_layers",),
        heads: tuple[str, ...] = ("num_attention_heads",),
        intermediate_size: tuple[str, ...] | int = ("intermediate_size",),
        head_size: int | None = None,
        defaults: Mapping[str, int] | None = None,
    ) -> Options:
        """Read the sizes, by their keys; heads without a size share the hidden size."""

        def size(*keys: str, at_most: int | None = None) -> int:
            default = (defaults or {}).get(keys[0], NEEDED)
            return self.size(*keys, default=default, at_most=at_most)

        hidden, count = size(*hidden_size), size(*heads)
        if head_size is None and hidden % count:
            raise self.refused(f"{hidden_size[0]} {hidden} is no multiple of {heads[0]} {count}")
        wide = intermediate_size
        return Options(
            vocab_size=size("vocab_size"),
            hidden_size=hidden,
            num_layers=size(*num_layers, at_most=MOST_LAYERS),
            heads=count,
            key_value_heads=count,
            head_size=head_size or hidden // count,
            intermediate_size=wide if isinstance(wide, int) else size(*wide),
        )

    def rotary_sizes(self, *, head_dim: int | None = None, **names: tuple[str, ...]) -> Options:
        """Read the sizes of an encoder with rotary positions; ``head_dim`` is the key's default."""
        size = self.optional_size("head_dim", default=head_dim)
        options = self.sizes(head_size=size, defaults=None, **names)
        if options.head_size % 2 or options.head_size > _LARGEST_HEAD:
            raise self.refused(
                f"head size {options.head_size} is odd, or more than {_LARGEST_HEAD}; rotary "
                "positions turn pairs of elements"
            )
        return options

    def epsilon(self, *keys: str, default: float) -> float:
        """Read the number that a normalisation adds to the variance."""
        return self.value(_EPSILON, *keys, default=default)

    def activation(self, key: str = "hidden_act", default: str = "gelu") -> str:
        """Read an activation; ``default`` is transformers' name, too."""
        return self.value(_HIDDEN_ACT, key, default=HIDDEN_ACTS[default])

    def biases(self, **keys: frozenset[str]) -> frozenset[str]:
        """Read which linear layers have a bias: those of the keys that say true."""
        return frozenset[str]().union(*(keys[key] for key in keys if self.flag(key)))

    def rope(self, key: str, *kinds: str, within: Settings | None = None) -> "Rope | None":
        """Read how positions turn: an object that scales nothing, or is of one of these kinds."""
        inner = (within or self).inner(key)
        return None if inner is None else Rope(inner, kinds)

    def one_theta(self, options: Options, theta: float, *keys: str) -> Options:
        """Read the base of the frequencies that all layers share, of transformers 4 and 5."""
        theta = self.number(*(keys or ("rope_theta",)), default=theta, above=0)
        scaling, parameters = self.rope("rope_scaling"), self.rope("rope_parameters")
        rope = scaling or parameters
        turns = frequencies(options.head_size, (rope and rope.theta) or theta)
        return self.turned(options, turns)

    def turned(self, options: Options, turns: tuple[float, ...]) -> Options:
        """Return the options with the same frequencies in all layers."""
        return replace(options, frequencies=(turns,) * options.num_layers)

    def layer_types(
        self, options: Options, window: int | None, slides: Callable[[int], bool]
    ) -> Options:
        """Read which layers attend within a window; ``slides`` says it where the file does not."""
        types = self.value(_LAYER_TYPES, "layer_types", default=None)
        if types is not None and len(types) != options.num_layers:
            raise self.refused(
                f"layer_types has {len(types)} entries, expected num_hidden_layers "
                f"{options.num_layers}"
            )
        layers = range(options.num_layers)
        sliding = [kind == "sliding_attention" for kind in types or ()] or [*map(slides, layers)]
        return replace(options, windows=tuple(window if slid else None for slid in sliding))

    def two_thetas(self, options: Options, full: float, sliding: float) -> Options:
        """Read two RoPE thetas: of layers with full attention, and of layers with a window.

        A theta that ``rope_parameters`` does not give is ``full`` or ``sliding``.
        """
        self.only("rope_scaling", None)
        thetas = {"full_attention": full, "sliding_attention": sliding}
        inner = self.inner("rope_parameters") or Settings({})
        for key in inner.values:
            if key not in thetas:
                raise self.refused(f"rope_parameters.{key}: expected keys {', '.join(thetas)}")
        ropes = [self.rope(kind, within=inner) for kind in thetas]
        full, sliding = (
            (rope and rope.theta) or theta
            for rope, theta in zip(ropes, thetas.values(), strict=True)
        )
        of_full, of_sliding = (frequencies(options.head_size, theta) for theta in (full, sliding))
        turns = (of_full if window is None else of_sliding for window in options.windows)
        return replace(options, frequencies=tuple(turns))


class Rope:
    """``rope_parameters`` of transformers 5, or ``rope_scaling`` of transformers 4."""

    def __init__(self, settings: Settings, kinds: tuple[str, ...]) -> None:
        # Other kinds' own.
        settings.pass_over("factor", "original_max_position_embeddings")
        settings.value(_WHOLE, "partial_rotary_factor", default=None)
        self.settings = settings
        self.kind = settings.choice(("default", *kinds), "rope_type", "type", default="default")
        self.theta = settings.value(_OPTIONAL_THETA, "rope_theta", default=None)
