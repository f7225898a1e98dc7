"""What others make of numbers: vectors of length 1, and numbers of 8 bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_TINY = np.finfo(np.float32).tiny


def unit(x: Floats) -> Floats:
    """Each vector of the last axis divided by its length."""
    norms: Floats = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.maximum(norms, _TINY)


def int8(x: Floats) -> Floats:
    """Rounded to 255 steps, of one size for the whole array."""
    scale = np.float32(max(np.abs(x).max(), _TINY) / 127)
    return np.asarray(np.rint(x / scale) * scale, np.float32)
