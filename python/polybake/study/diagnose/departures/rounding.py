"""Normalise vectors to length 1, and round numbers to 8 bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_TINY = np.finfo(np.float32).tiny


def unit(x: Floats) -> Floats:
    """Divide each vector along the last axis by its length."""
    norms: Floats = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.maximum(norms, _TINY)


def int8(x: Floats) -> Floats:
    """Round to 255 steps, of one size for the whole array."""
    scale = np.float32(max(np.abs(x).max(), _TINY) / 127)
    return np.asarray(np.rint(x / scale) * scale, np.float32)
