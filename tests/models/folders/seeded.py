"""Weights that a name gives: the same numbers with every library, version and platform."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

#: At 0.02 attention is nearly uniform, and a forgotten scale would not show.
SPREAD = 0.2

TYPES = {
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
}


@dataclass(frozen=True)
class Draw:
    """Numbers with a standard deviation of `SPREAD` around a mean.

    Those of another name or shape are others.
    """

    name: str
    shape: tuple[int, ...]
    mean: float = 0.0

    def array(self) -> NDArray[np.float32]:
        size = math.prod(self.shape)
        drawn = hashlib.shake_256(f"{self.name} {[*self.shape]}".encode()).digest(8 * size)
        # The sum of four even numbers is nearly normal; whole numbers add up alike everywhere.
        sums = np.frombuffer(drawn, "<u2").reshape(size, 4).astype(np.int64).sum(axis=1)
        steps = sums - 2 * (2**16 - 1)
        scale = SPREAD / math.sqrt((2**32 - 1) / 3)
        return (self.mean + steps * scale).astype(np.float32).reshape(self.shape)

    def stored(self, dtype: str, *, transposed: bool = False) -> bytes:
        """The bytes of a file that holds them in a type of `TYPES`."""
        array = self.array().astype(TYPES[dtype])
        return (array.T if transposed else array).tobytes()


#: Every draw of this process, by which what a library saved is told from what it made itself.
MADE: dict[Draw, None] = {}


def drawn(name: str, shape: tuple[int, ...], mean: float = 0.0) -> NDArray[np.float32]:
    """The numbers of a name."""
    draw = Draw(name, shape, mean)
    MADE[draw] = None
    return draw.array()


def randomise(model: Any, seed: int = 3) -> Any:
    """Draw every weight of a PyTorch module by its name; norms' scales around 1."""
    for name, parameter in model.named_parameters():
        scale = parameter.dim() == 1 and name.endswith("orm.weight")
        redraw(parameter, f"{seed} {name}", 1.0 if scale else 0.0)
    return model.eval()


def redraw(parameter: Any, name: str, mean: float = 0.0) -> None:
    """Draw one weight of a PyTorch module."""
    import torch

    with torch.no_grad():
        parameter.copy_(torch.from_numpy(drawn(name, tuple(parameter.shape), mean)))
