"""The layers of a checkpoint that stand behind its encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.stored_tensor import StoredTensor, stored_tensors
from polybake.baking.layers.weights import Prefix, bare_name
from polybake.baking.steps import Dense, LayerNorm, TiedDense
from polybake.errors import InputError


@dataclass(frozen=True)
class Layers:
    """Makes steps from the weights of a checkpoint, by their names.

    Attributes:
        files: The files that together hold the checkpoint.
        prefix: The possible prefixes of each name.
    """

    files: Sequence[Path]
    prefix: Prefix = ""

    def dense(self, name: str, activation: str = "identity") -> Dense:
        """Return a linear layer with its activation."""
        weight, bias = self.array(f"{name}.weight"), self._find(f"{name}.bias")
        return Dense(weight=weight, bias=bias, activation=activation)

    def tied(self, table: str, bias: str) -> TiedDense:
        """A linear layer whose weight is the encoder's table of tokens."""
        return TiedDense(weight=self.array(table), bias=self._find(bias), activation="identity")

    def layer_norm(self, name: str, eps: float) -> LayerNorm:
        """A normalisation."""
        return LayerNorm(
            weight=self.array(f"{name}.weight"), bias=self._find(f"{name}.bias"), eps=eps
        )

    def has(self, name: str) -> bool:
        """Whether the checkpoint has a tensor of this name."""
        return self._stored(name) is not None

    def rows(self, name: str, places: Sequence[int]) -> NDArray[np.float32]:
        """Return rows of a table, float32 ``[places, columns]``."""
        stored = self._stored(name)
        if stored is None or len(stored.shape) != 2:
            raise self._missing(name)
        if max(places) >= stored.shape[0]:
            raise InputError(
                f"{stored.file}: {name} has {stored.shape[0]} rows, and a reranker's head needs "
                f"row {max(places)}; use a tokenizer and weights that were saved together"
            )
        return stored.array()[[*places]].astype(np.float32)

    def array(self, name: str) -> NDArray[np.float32]:
        """Return the tensor of this name, as float32."""
        tensor = self._find(name)
        if tensor is None:
            raise self._missing(name)
        return tensor

    def _missing(self, name: str) -> InputError:
        return InputError(
            f"{self.files[0]}: has no {name}, which the model's head needs; use a "
            "configuration and weights that were saved together"
        )

    def _find(self, name: str) -> NDArray[np.float32] | None:
        stored = self._stored(name)
        return None if stored is None else stored.lazy().numpy()

    def _stored(self, name: str) -> StoredTensor | None:
        for file in self.files:
            for tensor in stored_tensors(file):
                if bare_name(tensor.name, self.prefix) == name:
                    return tensor
        return None
