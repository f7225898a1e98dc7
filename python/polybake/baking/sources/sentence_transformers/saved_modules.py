"""The modules of sentence-transformers behind an encoder, and their saved configurations.

A new module needs a class here, and an entry in `FOLLOWING`.
"""

import abc
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ValidationError

from polybake.baking import steps
from polybake.baking.sources.module_weights import exact_tensors
from polybake.baking.sources.sentence_transformers import OWN_STEPS
from polybake.baking.sources.torch_classes import activation_of
from polybake.base.files.known_keys import KnownKeys
from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.validation import JsonModel, first_fault
from polybake.errors import InputError

#: The keys for a module's input and output, which are checked elsewhere by its position.
NAMES = ("module_input_name", "module_output_name")


class SavedModule(JsonModel, KnownKeys, abc.ABC):
    """The keys of a module's configuration that its step needs, with the library's defaults."""

    #: Sizes that follow from other modules and arrays.
    passed_over: ClassVar[Collection[str]] = ("word_embedding_dimension", "embedding_dimension")

    @abc.abstractmethod
    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """Return the parameters of the step; its arrays lie in the module's folder."""


class SavedNothing(SavedModule):
    """A Normalize, or a Dropout, which does nothing outside training."""

    passed_over: ClassVar[Collection[str]] = (*NAMES, "dropout")

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """None."""
        return {}


class SavedPooling(SavedModule):
    """A Pooling, in its new schema or in the old schema of booleans.

    Source: sentence-transformers ``Pooling.load_config``.
    """

    pooling_mode: Annotated[
        list[str] | None, BeforeValidator(lambda mode: [mode] if isinstance(mode, str) else mode)
    ] = None
    include_prompt: bool = True
    pooling_mode_cls_token: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_tokens: bool = False
    pooling_mode_mean_sqrt_len_tokens: bool = False
    pooling_mode_weightedmean_tokens: bool = False
    pooling_mode_lasttoken: bool = False

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """Return the mode or the concatenated modes, in order, and whether the prompt counts."""
        old = {
            "cls": self.pooling_mode_cls_token,
            "max": self.pooling_mode_max_tokens,
            "mean": self.pooling_mode_mean_tokens,
            "mean_sqrt_len_tokens": self.pooling_mode_mean_sqrt_len_tokens,
            "weightedmean": self.pooling_mode_weightedmean_tokens,
            "lasttoken": self.pooling_mode_lasttoken,
        }
        modes = self.pooling_mode
        if modes is None:
            modes = [mode for mode, chosen in old.items() if chosen] or ["mean"]
        left_out = {} if self.include_prompt else {"include_prompt": False}
        return {"mode": modes[0] if len(modes) == 1 else modes, **left_out}


class SavedDense(SavedModule):
    """A Dense; ``use_residual`` since sentence-transformers 5.7.

    Source: sentence-transformers ``Dense.load``.
    """

    passed_over: ClassVar[Collection[str]] = NAMES

    in_features: int | None = None
    out_features: int | None = None
    bias: bool = True
    activation_function: Annotated[str, AfterValidator(activation_of)] = "tanh"
    use_residual: bool = False

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The layer's arrays, its activation and its residual."""
        residual = None
        if self.use_residual:
            residual = "identity" if self.in_features == self.out_features else "projection"
        names = {
            "weight": "linear.weight",
            **({"bias": "linear.bias"} if self.bias else {}),
            **({"residual_weight": "residual.weight"} if residual == "projection" else {}),
        }
        arrays = exact_tensors(folder, names)
        sizes = {"out_features": self.out_features, "in_features": self.in_features}
        for (key, said), size in zip(sizes.items(), arrays["weight"].shape, strict=False):
            if said not in (None, size):
                raise InputError(
                    f"{folder.path}: {key} = {said}, but linear.weight has {size}; "
                    "download the module again"
                )
        return {**arrays, "activation": self.activation_function, "residual": residual}


class SavedLayerNorm(SavedModule):
    """A LayerNorm, which always has PyTorch's own eps.

    Source: sentence-transformers ``LayerNorm.load``.
    """

    passed_over: ClassVar[Collection[str]] = (*NAMES, "dimension")

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The scale and the shift."""
        return {**exact_tensors(folder, {"weight": "norm.weight", "bias": "norm.bias"})}


class SavedSpladePooling(SavedModule):
    """A SpladePooling; ``chunk_size`` bounds the library's memory.

    Source: sentence-transformers ``SpladePooling``.
    """

    passed_over: ClassVar[Collection[str]] = (*SavedModule.passed_over, "chunk_size")

    pooling_strategy: Literal["max", "sum"] = "max"
    activation_function: Literal["relu", "log1p_relu"] = "relu"

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """How weights are made and pooled."""
        return {"pooling": self.pooling_strategy, "activation": self.activation_function}


class SavedWeightedLayerPooling(SavedModule):
    """A WeightedLayerPooling.

    Source: sentence-transformers ``WeightedLayerPooling.load``.
    """

    passed_over: ClassVar[Collection[str]] = (*SavedModule.passed_over, "num_hidden_layers")

    layer_start: int = 4

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The first layer, and the weight of each from it on."""
        weights = exact_tensors(folder, {"weights": "layer_weights"})
        return {**weights, "layer_start": self.layer_start}


class SavedTanhQuantizer(SavedModule):
    """A FlexibleQuantizer of Perplexity's models, which gives int8 unless a call asks otherwise.

    Source: ``st_quantize.py`` of perplexity-ai/pplx-embed-v1.
    """

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """How integers are made."""
        return {"precision": "int8", "function": "tanh"}


@dataclass(frozen=True)
class FollowingModule:
    """A module that follows others.

    Attributes:
        step: The corresponding step.
        saved: The configuration in its folder.
        file: The name of the configuration's file.
        needed: Whether the file must exist.
        named: Whether it names the module's input: embeddings of tokens or of sentences.
        inline: Whether polybake.toml has the step's parameters; else it names the folder.
    """

    step: type[steps.Step]
    saved: type[SavedModule]
    file: str = "config.json"
    needed: bool = True
    named: bool = False
    inline: bool = False

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """Read the step's parameters in the module's folder."""
        read = folder.read(self.file, self.saved, needed=self.needed, remedy=OWN_STEPS)
        return read.parameters(folder)

    def made(self, folder: ModelFolder) -> steps.Step:
        """Make the step of the module's folder."""
        try:
            return self.step(**self.parameters(folder))
        except ValidationError as error:
            raise InputError(
                f"{folder.path}: {first_fault(error)}; download the module again"
            ) from error


FOLLOWING = {
    "Pooling": FollowingModule(steps.Pool, SavedPooling, inline=True),
    "Normalize": FollowingModule(
        steps.Normalize, SavedNothing, needed=False, named=True, inline=True
    ),
    "Dense": FollowingModule(steps.Dense, SavedDense, named=True),
    "LayerNorm": FollowingModule(steps.LayerNorm, SavedLayerNorm, needed=False, named=True),
    "Dropout": FollowingModule(steps.Dropout, SavedNothing, needed=False, named=True, inline=True),
    "SpladePooling": FollowingModule(steps.Splade, SavedSpladePooling, inline=True),
    "FlexibleQuantizer": FollowingModule(
        steps.Quantize, SavedTanhQuantizer, needed=False, inline=True
    ),
    "WeightedLayerPooling": FollowingModule(steps.WeightedLayerPooling, SavedWeightedLayerPooling),
}

#: The modules whose folder a step of polybake.toml may name, by the step's name.
SAVED = {module.step.name: module for module in FOLLOWING.values() if not module.inline}
