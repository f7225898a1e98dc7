"""The modules of sentence-transformers behind an encoder: the step of each, and its settings.

A new module needs an entry in `FOLLOWING`, and a function that reads its settings.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, TypeAdapter, ValidationError

from polybake.baking import steps
from polybake.baking.sources.module_weights import exact_tensors
from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.torch_classes import activation_of
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.settings import Settings
from polybake.base.files.validation import first_fault
from polybake.errors import InputError

Parameters = dict[str, object]
#: Reads the arrays of the module's folder, by their parameters and their names there.
Tensors = Callable[[dict[str, str]], dict[str, NDArray[np.float32]]]

#: The keys for a module's input and output, which are checked elsewhere by its position.
_NAMES = ("module_input_name", "module_output_name")
#: Sizes that follow from other modules and arrays.
_SIZES = ("word_embedding_dimension", "embedding_dimension")
#: The modes of the old schema of a Pooling: a key each.
_MODES = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}

_MODE: TypeAdapter[str | list[str] | None] = TypeAdapter(str | list[str] | None)
_ACTIVATION: TypeAdapter[str] = TypeAdapter(Annotated[str, AfterValidator(activation_of)])


def _nothing(settings: Settings, tensors: Tensors) -> Parameters:  # noqa: ARG001 - none is read
    return {}


def _pooling(settings: Settings, tensors: Tensors) -> Parameters:  # noqa: ARG001 - no arrays
    """Source: sentence-transformers ``Pooling.load_config``."""
    mode = settings.value(_MODE, "pooling_mode", default=None)
    old = [mode for mode, key in _MODES.items() if settings.flag(key)] or ["mean"]
    modes = [mode] if isinstance(mode, str) else old if mode is None else mode
    counted = settings.flag("include_prompt", default=True)
    left_out = {} if counted else {"include_prompt": False}
    return {"mode": modes[0] if len(modes) == 1 else modes, **left_out}


def _dense(settings: Settings, tensors: Tensors) -> Parameters:
    """Source: sentence-transformers ``Dense.load``; ``use_residual`` since 5.7."""
    sizes = {key: settings.optional_size(key) for key in ("out_features", "in_features")}
    residual = None
    if settings.flag("use_residual"):
        residual = "identity" if len({*sizes.values()}) == 1 else "projection"
    names = {
        "weight": "linear.weight",
        **({"bias": "linear.bias"} if settings.flag("bias", default=True) else {}),
        **({"residual_weight": "residual.weight"} if residual == "projection" else {}),
    }
    activation = settings.value(_ACTIVATION, "activation_function", default="tanh")
    arrays = tensors(names)
    for (key, number), size in zip(sizes.items(), arrays["weight"].shape, strict=False):
        if number not in (None, size):
            raise InputError(
                f"{settings.path}: {key} = {number}, but linear.weight has {size}; "
                "download the module again"
            )
    return {**arrays, "activation": activation, "residual": residual}


def _layer_norm(settings: Settings, tensors: Tensors) -> Parameters:  # noqa: ARG001 - PyTorch's eps
    """Source: sentence-transformers ``LayerNorm.load``."""
    return {**tensors({"weight": "norm.weight", "bias": "norm.bias"})}


def _splade(settings: Settings, tensors: Tensors) -> Parameters:  # noqa: ARG001 - no arrays
    """Source: sentence-transformers ``SpladePooling``."""
    return {
        "pooling": settings.choice(("max", "sum"), "pooling_strategy", default="max"),
        "activation": settings.choice(
            ("relu", "log1p_relu"), "activation_function", default="relu"
        ),
    }


def _weighted_layers(settings: Settings, tensors: Tensors) -> Parameters:
    """Source: sentence-transformers ``WeightedLayerPooling.load``."""
    start = settings.integer("layer_start", default=4, strict=True)
    return {**tensors({"weights": "layer_weights"}), "layer_start": start}


def _tanh_quantizer(settings: Settings, tensors: Tensors) -> Parameters:  # noqa: ARG001 - none
    """Perplexity's models give int8 unless a call asks otherwise.

    Source: ``st_quantize.py`` of perplexity-ai/pplx-embed-v1.
    """
    return {"precision": "int8", "function": "tanh"}


@dataclass(frozen=True)
class FollowingModule:
    """A module that follows others.

    Attributes:
        step: The corresponding step.
        read: Reads the step's parameters: settings first, arrays last.
        passed_over: The keys of the settings that change no vector.
        needed: Whether the settings' file must exist.
        named: Whether it names the module's input: embeddings of tokens or of sentences.
        inline: Whether polybake.toml has the step's parameters; else it names the folder.
    """

    step: type[steps.Step]
    read: Callable[[Settings, Tensors], Parameters]
    passed_over: Collection[str] = ()
    needed: bool = True
    named: bool = False
    inline: bool = False

    def parameters(self, folder: ModelFolder) -> Parameters:
        """Read the step's parameters in the module's folder."""
        settings = folder.counted("config.json", Settings, OWN_STEPS, needed=self.needed)
        settings.pass_over(*self.passed_over, *(_NAMES if self.named else ()))

        def tensors(names: dict[str, str]) -> dict[str, NDArray[np.float32]]:
            settings.check(folder.allowed)
            return exact_tensors(folder, names)

        parameters = self.read(settings, tensors)
        settings.check(folder.allowed)
        return parameters

    def made(self, folder: ModelFolder) -> steps.Step:
        """Make the step of the module's folder."""
        try:
            return self.step(**self.parameters(folder))
        except ValidationError as error:
            raise InputError(
                f"{folder.path}: {first_fault(error)}; download the module again"
            ) from error


FOLLOWING = {
    "Pooling": FollowingModule(steps.Pool, _pooling, _SIZES, inline=True),
    "Normalize": FollowingModule(steps.Normalize, _nothing, needed=False, named=True, inline=True),
    "Dense": FollowingModule(steps.Dense, _dense, named=True),
    "LayerNorm": FollowingModule(
        steps.LayerNorm, _layer_norm, ("dimension",), needed=False, named=True
    ),
    # It does nothing outside training.
    "Dropout": FollowingModule(
        steps.Dropout, _nothing, ("dropout",), needed=False, named=True, inline=True
    ),
    # Chunks bound the library's memory.
    "SpladePooling": FollowingModule(steps.Splade, _splade, (*_SIZES, "chunk_size"), inline=True),
    "FlexibleQuantizer": FollowingModule(
        steps.Quantize, _tanh_quantizer, _SIZES, needed=False, inline=True
    ),
    "WeightedLayerPooling": FollowingModule(
        steps.WeightedLayerPooling, _weighted_layers, (*_SIZES, "num_hidden_layers")
    ),
}

#: The modules whose folder a step of polybake.toml may name, by the step's name.
SAVED = {module.step.name: module for module in FOLLOWING.values() if not module.inline}
