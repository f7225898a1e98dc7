"""How the tiny model of `every_feed` ends: with floats, integers or bits, in ONNX and in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from polybake.base.modelfile.tolerance import Slack

#: Elements of every embedding; packed bits are made of eight times as many dimensions.
DIMENSION = 7

_UNCHANGED = "vector = Identity (float_vector)"

#: One step is 0.004 wide, and some values lie beyond the range, from -0.512 to 0.508.
_TO_INT8 = """
    width = Constant <value = float {0.004}> ()
    steps = Div (float_vector, width)
    whole = Floor (steps)
    lowest = Constant <value = float {-128.0}> ()
    highest = Constant <value = float {127.0}> ()
    clipped = Clip (whole, lowest, highest)
    vector = Cast <to = 3> (clipped)
"""

#: Bits that are set above 0, the first of eight the highest.
_TO_BITS = """
    zero = Constant <value = float {0.0}> ()
    set = Greater (float_vector, zero)
    bits = Cast <to = 1> (set)
    eights = Constant <value = int64[3] {-1, 7, 8}> ()
    grouped = Reshape (bits, eights)
    powers = Constant <value = float[8] {128.0, 64.0, 32.0, 16.0, 8.0, 4.0, 2.0, 1.0}> ()
    bytes = MatMul (grouped, powers)
    vector = Cast <to = 2> (bytes)
"""


@dataclass(frozen=True)
class Quantization:
    """How a float vector is quantized, in the graph and in NumPy."""

    dtype: str
    operators: str
    numpy: Callable[[np.ndarray], np.ndarray]
    packed_bits: bool = False

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the float vector."""
        return DIMENSION * (8 if self.packed_bits else 1)


QUANTIZATIONS = {
    "float32": Quantization("float32", _UNCHANGED, lambda x: x),
    "int8": Quantization(
        "int8",
        _TO_INT8,
        lambda x: np.clip(np.floor(x / np.float32(0.004)), -128, 127).astype(np.int8),
    ),
    "ubinary": Quantization(
        "uint8", _TO_BITS, lambda x: np.packbits(x > 0, axis=-1), packed_bits=True
    ),
}


def slack(vectors: np.ndarray, quantization: Quantization) -> Slack | None:
    """The slack if rounding moves a float by 2e-5, relative to lengths above 1."""
    if quantization.dtype == "float32":
        return None
    away = 2e-5 * np.maximum(1, np.linalg.norm(vectors, axis=1, keepdims=True))
    lowest, highest = quantization.numpy(vectors - away), quantization.numpy(vectors + away)
    if quantization.packed_bits:
        return Slack(lowest ^ highest, packed_bits=True)
    return Slack((highest.astype(int) - lowest).astype(np.uint8), packed_bits=False)
