"""Put another product in the place of one."""

import numpy as np
from onnxscript import ir

from polybake.baking.quantization.calibration import Floats
from polybake.baking.quantization.nodes import Nodes
from polybake.baking.quantization.products import Product


def replace_product(nodes: Nodes, product: Product, y: ir.Value, shift: Floats) -> None:
    """Put ``y + shift`` in the place of a product."""
    if shift.any():
        # Two axes prevent a fusion: ONNX Runtime's BiasGelu is slower than its parts.
        y = nodes.op("Add", y, nodes.constant(f"{product.end.name}.shift", shift[np.newaxis]))
    nodes.replace(product.end, y)
    if product.node is not product.end:
        nodes.drop(product.node)
