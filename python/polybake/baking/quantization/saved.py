"""How many bytes of weights integers save."""

from onnxscript import ir

from polybake.baking.quantization.blocks import BITS
from polybake.baking.quantization.products import groups
from polybake.baking.quantization.tables import table_of


def int8_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `int8.quantize` saves of ``model``."""
    return _saves(model, 8)


def int4_saves(model: ir.Model) -> int:
    """How many bytes of weights, about, `int4.quantize` saves of ``model``."""
    return _saves(model, BITS)


def _saves(model: ir.Model, bits: float) -> int:
    """Of products with ``bits`` a weight, and tables of eight."""
    products = {one.weight for group in groups(model.graph) for one in group.layers[0]}
    tables = {table for node in model.graph if (table := table_of(node)) is not None}
    saved = int(_bytes(products) * (1 - bits / 32))
    return saved + 3 * _bytes(tables - products) // 4


def _bytes(weights: set[ir.Value]) -> int:
    return sum(weight.const_value.nbytes for weight in weights if weight.const_value)
