"""The modules of sentence-transformers that change the vectors of tokens, as it saves them."""

from collections.abc import Collection, Sequence
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from polybake.baking.sources.module_weights import all_tensors, exact_tensors
from polybake.baking.sources.sentence_transformers.saved_module import SavedModule
from polybake.base.files.model_folder import ModelFolder


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
        """Return the weight of each word, or else the weight of the word in lower case.

        Source: sentence-transformers ``WordWeights``.
        """
        weights, unknown = self.word_weights, self.unknown_word_weight
        found = [weights.get(word, weights.get(word.lower(), unknown)) for word in words]
        return np.array(found, np.float32)

    def parameters(self, folder: ModelFolder) -> dict[str, object]:  # noqa: ARG002 - no arrays
        """The weight of each word."""
        return {"weights": self.weights_of(self.vocab)}


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
