"""The modules of sentence-transformers that stand behind an encoder, and what it saves of them.

A new one is a class here, and an entry of `FOLLOWING`.
"""

import abc
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field

from polybake import steps
from polybake.errors import InputError
from polybake.files.known_keys import KnownKeys
from polybake.files.model_folder import ModelFolder
from polybake.files.validation import JsonModel
from polybake.sources.module_weights import all_tensors, exact_tensors
from polybake.sources.sentence_transformers.remedy import OWN_STEPS
from polybake.sources.torch_classes import activation_of

#: What a module takes and gives, which is checked where it stands.
NAMES = ("module_input_name", "module_output_name")


class SavedModule(JsonModel, KnownKeys, abc.ABC):
    """The keys of a module's configuration that its step needs, with the library's defaults."""

    #: Sizes that follow from other modules and arrays.
    passed_over: ClassVar[Collection[str]] = ("word_embedding_dimension", "embedding_dimension")

    @abc.abstractmethod
    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The parameters of the step, whose arrays lie in the module's folder.

        Raises:
            InputError: the arrays are missing, damaged, or not those of the configuration.
        """


class SavedNothing(SavedModule):
    """A Normalize, or a Dropout, which does nothing outside training."""

    passed_over: ClassVar[Collection[str]] = (*NAMES, "dropout")

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """None."""
        return {}


class SavedPooling(SavedModule):
    """A Pooling, in its new schema or in the old one of booleans.

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
        """The mode, or the modes in the order in which they are concatenated, and the prompt's."""
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


class SavedCnn(SavedModule):
    """A CNN; other strides would leave tokens out.

    Source: sentence-transformers ``CNN.load``.
    """

    passed_over: ClassVar[Collection[str]] = (
        "in_word_embedding_dimension",
        "in_embedding_dimension",
    )

    out_channels: int = 256
    kernel_sizes: tuple[int, ...] = (1, 3, 5)
    stride_sizes: list[Literal[1]] | None = None

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The sizes and the weights."""
        sizes = {"channels": self.out_channels, "kernel_sizes": self.kernel_sizes}
        return {**sizes, "weights": all_tensors(folder)}


class SavedLstm(SavedModule):
    """An LSTM.

    Source: sentence-transformers ``LSTM.load``.
    """

    passed_over: ClassVar[Collection[str]] = (*SavedModule.passed_over, "dropout")

    hidden_dim: int
    num_layers: int = 1
    bidirectional: bool = True

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """The sizes, and the weights under PyTorch's own names."""
        weights = {name.removeprefix("encoder."): one for name, one in all_tensors(folder).items()}
        sizes = {"hidden": self.hidden_dim, "layers": self.num_layers}
        return {**sizes, "bidirectional": self.bidirectional, "weights": weights}


_Weight = Annotated[float, Field(allow_inf_nan=False)]


class SavedWordWeights(SavedModule):
    """A WordWeights, which keeps its weights in the configuration."""

    vocab: Annotated[list[str], Field(min_length=1)]
    word_weights: dict[str, _Weight] = Field(default_factory=dict)
    unknown_word_weight: _Weight = 1

    def weights_of(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The weight of each word: its own, else that of the same word in lower case.

        Source: sentence-transformers ``WordWeights``.
        """
        weights, unknown = self.word_weights, self.unknown_word_weight
        found = [weights.get(word, weights.get(word.lower(), unknown)) for word in words]
        return np.array(found, np.float32)

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """The weight of each word."""
        return {"weights": self.weights_of(self.vocab)}


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


@dataclass(frozen=True)
class FollowingModule:
    """A module that stands behind others.

    Attributes:
        step: The step that it is.
        saved: What its folder says for the step.
        file: The configuration's name.
        needed: Whether the configuration must be there.
        named: Whether it says what the module takes: embeddings of tokens or of sentences.
        inline: Whether polybake.toml has the step's parameters; else it names the folder.
    """

    step: type[steps.Step]
    saved: type[SavedModule]
    file: str = "config.json"
    needed: bool = True
    named: bool = False
    inline: bool = False

    def parameters(self, folder: ModelFolder) -> dict[str, object]:
        """Read the step's parameters in the module's folder.

        Raises:
            InputError: a file is missing or damaged, or says what no step computes.
        """
        read = folder.read(self.file, self.saved, needed=self.needed, remedy=OWN_STEPS)
        return read.parameters(folder)


FOLLOWING = {
    "Pooling": FollowingModule(steps.Pool, SavedPooling, inline=True),
    "Normalize": FollowingModule(
        steps.Normalize, SavedNothing, needed=False, named=True, inline=True
    ),
    "Dense": FollowingModule(steps.Dense, SavedDense, named=True),
    "LayerNorm": FollowingModule(steps.LayerNorm, SavedLayerNorm, needed=False, named=True),
    "Dropout": FollowingModule(steps.Dropout, SavedNothing, needed=False, named=True, inline=True),
    "CNN": FollowingModule(steps.Cnn, SavedCnn, "cnn_config.json"),
    "LSTM": FollowingModule(steps.Lstm, SavedLstm, "lstm_config.json"),
    "SpladePooling": FollowingModule(steps.Splade, SavedSpladePooling, inline=True),
    "WordWeights": FollowingModule(steps.WordWeights, SavedWordWeights),
    "WeightedLayerPooling": FollowingModule(steps.WeightedLayerPooling, SavedWeightedLayerPooling),
}

#: The modules whose folder a step of polybake.toml may name, by the step's name.
SAVED = {module.step.name: module for module in FOLLOWING.values() if not module.inline}
