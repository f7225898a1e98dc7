"""Round activations to integers, each row by its own range, inside the graph."""

from dataclasses import dataclass

import numpy as np
from onnxscript import ir

from polybake.quantization.nodes import Nodes

_STEPS = 255

#: Where GELU ends below: -0.17 at -0.75. So its zero may stand still, at a sixth of the range.
_GELU_LOWEST = 0.17
_GELU_ZERO = 40

#: Of a row: below it all is taken for equal.
_LEAST_RANGE = 1e-20


@dataclass(frozen=True)
class Rows:
    """``x`` is close to ``(integers - zero) * range / steps + lowest``.

    Attributes:
        integers: uint8, the shape of x.
        zero: uint8, a constant of the graph.
        range: float32 ``[..., 1]``.
        steps: How many make up the range.
        lowest: float32 ``[..., 1]``; None where it is 0.
    """

    integers: ir.Value
    zero: ir.Value
    range: ir.Value
    steps: int
    lowest: ir.Value | None


def round_by_range(nodes: Nodes, x: ir.Value) -> Rows:
    """Between the smallest and the largest element of each row."""
    lowest = nodes.of_rows("ReduceMin", x)
    whole = nodes.op("Sub", nodes.of_rows("ReduceMax", x), lowest)
    whole = nodes.op("Max", whole, nodes.number(_LEAST_RANGE))
    zero = nodes.constant("zero", np.array(0, np.uint8))
    above = nodes.op("Sub", x, lowest)
    return Rows(_round(nodes, above, whole, _STEPS, zero), zero, whole, _STEPS, lowest)


def round_gelu(nodes: Nodes, x: ir.Value) -> Rows:
    """What GELU gives: between its lowest value and the largest element of each row."""
    steps = _STEPS - _GELU_ZERO
    highest = nodes.of_rows("ReduceMax", x)
    whole = nodes.op("Max", highest, nodes.number(_GELU_LOWEST / _GELU_ZERO * steps))
    zero = nodes.constant("zero_of_gelu", np.array(_GELU_ZERO, np.uint8))
    return Rows(_round(nodes, x, whole, steps, zero), zero, whole, steps, None)


def _round(nodes: Nodes, x: ir.Value, whole: ir.Value, steps: int, zero: ir.Value) -> ir.Value:
    scaled = nodes.op("Mul", x, nodes.op("Div", nodes.number(steps), whole))
    return nodes.op("QuantizeLinear", scaled, nodes.number(1), zero)
