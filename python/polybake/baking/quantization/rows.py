"""Round activations to integers, each row by its own range, inside the graph."""

from dataclasses import dataclass

import numpy as np
from onnxscript import ir

from polybake.baking.quantization.nodes import Nodes

#: The steps on either side of a symmetric range's zero.
_STEPS = 127

#: GELU is at least -0.17, at -0.75. So its zero point can be fixed, at a sixth of the range.
_GELU_LOWEST = 0.17
_GELU_ZERO = 40
_GELU_STEPS = 255 - _GELU_ZERO

#: The least range of a row; in a smaller range all values count as 0.
_LEAST_RANGE = 1e-20


@dataclass(frozen=True)
class RoundedRows:
    """``x`` is close to ``(integers - zero) * range / steps``.

    Attributes:
        integers: uint8, the shape of x.
        zero: uint8, a constant of the graph.
        range: float32 ``[..., 1]``.
        steps: How many make up the range.
    """

    integers: ir.Value
    zero: ir.Value
    range: ir.Value
    steps: int


def round_symmetric(nodes: Nodes, x: ir.Value) -> RoundedRows:
    """Round to a range that is symmetric around 0, up to the largest element of each row."""
    return _round(nodes, x, nodes.op("Abs", x), _LEAST_RANGE, _STEPS, zero=_STEPS + 1)


def round_gelu(nodes: Nodes, x: ir.Value) -> RoundedRows:
    """Round GELU's output to the range from its minimum to the largest element of each row."""
    least = _GELU_LOWEST / _GELU_ZERO * _GELU_STEPS
    return _round(nodes, x, x, least, _GELU_STEPS, zero=_GELU_ZERO)


def _round(
    nodes: Nodes, x: ir.Value, sizes: ir.Value, least: float, steps: int, zero: int
) -> RoundedRows:
    largest = nodes.op("Max", nodes.largest_of_rows(sizes), nodes.number(least))
    origin = nodes.constant(f"zero.{zero}", np.array(zero, np.uint8))
    parts = nodes.op("Div", x, largest)
    integers = nodes.op("QuantizeLinear", parts, nodes.number(1 / steps), origin)
    return RoundedRows(integers, origin, largest, steps)
