"""ALiBi: scores fall with the distance of two tokens, in each head at its own slope.

Source: the paper (arXiv 2108.12409); symmetric, as JinaBERT's ``rebuild_alibi_tensor`` has it.
"""

import math

import numpy as np
from onnxscript import OpBuilder, ir

from polybake.baking.layers.positions import distances


def alibi_bias(op: OpBuilder, x: ir.Value, heads: int) -> ir.Value:
    """Map ``[batch, sequence, ...]`` to float32 ``[1, heads, query, key]``, at most 0."""
    falling = np.array(slopes(heads), np.float32).reshape(1, heads, 1, 1) * -1
    apart = op.Cast(op.Abs(distances(op, x)), to=ir.DataType.FLOAT)
    return op.Mul(op.Unsqueeze(apart, axes=[0, 1]), op.initializer(ir.tensor(falling), "slopes"))


def slopes(heads: int) -> list[float]:
    """Return the slope of each head: 2 ** (-8 / n) and its powers for n heads, a power of 2.

    Another number of heads takes the slopes of the next lower power, and then every other one of
    the next higher power.
    """
    lower = 2 ** math.floor(math.log2(heads))
    found = [2.0 ** (-8 * (place + 1) / lower) for place in range(lower)]
    return found if lower == heads else found + slopes(2 * lower)[::2][: heads - lower]
