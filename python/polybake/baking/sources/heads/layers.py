"""The layers of a checkpoint that stand behind its encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.stored_tensor import stored_tensors
from polybake.baking.steps import Dense, LayerNorm, TiedDense
from polybake.errors import InputError


@dataclass(frozen=True)
class Layers:
    """Makes steps from the weights of a checkpoint, by their names.

    Attributes:
        files: The files that together hold the checkpoint.
        prefix: A possible prefix of each name, such as ``bert.``.
    """

    files: Sequence[Path]
    prefix: str = ""

    def dense(self, name: str, activation: str = "identity") -> Dense:
        """Return a linear layer with its activation.

        Raises:
            InputError: The layer is missing or damaged, or its bias does not fit.
        """
        weight, bias = self._read(f"{name}.weight"), self._find(f"{name}.bias")
        return Dense(weight=weight, bias=bias, activation=activation)

    def tied(self, table: str, bias: str) -> TiedDense:
        """A linear layer whose weight is the encoder's table of tokens.

        Raises:
            InputError: as `dense`.
        """
        return TiedDense(weight=self._read(table), bias=self._find(bias), activation="identity")

    def layer_norm(self, name: str, eps: float) -> LayerNorm:
        """A normalisation.

        Raises:
            InputError: as `dense`.
        """
        return LayerNorm(
            weight=self._read(f"{name}.weight"), bias=self._find(f"{name}.bias"), eps=eps
        )

    def _read(self, name: str) -> NDArray[np.float32]:
        found = self._find(name)
        if found is None:
            raise InputError(
                f"{self.files[0]}: has no {name}, which the model's head needs; use a "
                "configuration and weights that were saved together"
            )
        return found

    def _find(self, name: str) -> NDArray[np.float32] | None:
        for file in self.files:
            for tensor in stored_tensors(file):
                if tensor.name.removeprefix(self.prefix) == name:
                    return tensor.lazy().numpy()
        return None
