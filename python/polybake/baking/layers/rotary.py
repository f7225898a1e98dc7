"""Rotary position embedding: queries and keys turned by their position.

Position p turns the pair of elements i and i + size / 2 of a head by p * theta ** (-2 * i / size).
Scores depend on differences of positions only, so that padding on the left moves no vector.

Source: transformers ``apply_rotary_pos_emb``, rope types ``default`` and ``llama3``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.layers.positions import positions


@dataclass(frozen=True)
class Rotation:
    """The rotation of each position; both values are float32 ``[sequence, head_size / 2]``."""

    cos: ir.Value
    sin: ir.Value

    def turn(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Keep the shape, float32 ``[batch, heads, sequence, head_size]``."""
        first, second = op.Split(x, num_outputs=2, axis=-1, _outputs=2)
        return op.Concat(
            op.Sub(op.Mul(first, self.cos), op.Mul(second, self.sin)),
            op.Add(op.Mul(second, self.cos), op.Mul(first, self.sin)),
            axis=-1,
        )


def rotation(op: OpBuilder, ids: ir.Value, frequencies: Sequence[float]) -> Rotation:
    """The rotation of every position of int64 ``[batch, sequence]``, by radians per position."""
    index = op.Cast(op.Unsqueeze(positions(op, ids), axes=[1]), to=ir.DataType.FLOAT)
    angles = op.Mul(index, [*frequencies])
    return Rotation(cos=op.Cos(angles), sin=op.Sin(angles))


def frequencies(head_size: int, theta: float, *, ntk: float = 1.0) -> tuple[float, ...]:
    """Return the radians per position of each pair, rounded like in PyTorch.

    Far from the text's beginning the last bit of a frequency shows in the vectors. So exponent,
    power and reciprocal are rounded to float32 one after another, as in PyTorch. ``ntk`` is the
    factor s of fixed NTK scaling, (s * theta) ** (-2 * i / size) / s ** (2 / size).
    """
    exponents = np.arange(0, head_size, 2, dtype=np.float32) / np.float32(head_size)
    powers = np.power(theta * ntk, exponents.astype(np.float64)).astype(np.float32)
    stretched = np.float32(1.0) / powers / np.float32(ntk ** (2 / head_size))
    return tuple(stretched.tolist())


def stretched(
    frequencies: Sequence[float], *, factor: float, low: float, high: float, length: float
) -> tuple[float, ...]:
    """Return Llama 3's frequencies for longer texts, rounded like in PyTorch.

    A pair that turns less than ``low`` times within ``length`` positions turns ``factor`` times
    slower, one that turns more than ``high`` times turns as before, and others lie between.

    Source: transformers ``_compute_llama3_parameters``.
    """
    plain = np.array(frequencies, np.float32)
    wave = np.float32(2 * np.pi) / plain
    slow = np.where(wave > np.float32(length / low), plain / np.float32(factor), plain)
    share = (np.float32(length) / wave - np.float32(low)) / np.float32(high - low)
    mixed = (np.float32(1.0) - share) * slow / np.float32(factor) + share * slow
    between = (wave >= np.float32(length / high)) & (wave <= np.float32(length / low))
    return tuple(np.where(between, mixed, slow).tolist())
