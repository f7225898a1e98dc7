"""Put one product in the place of several that multiply the same rows."""

from collections.abc import Sequence

import numpy as np
from onnxscript import ir

from polybake.baking.quantization.calibration import Floats
from polybake.baking.quantization.nodes import Nodes
from polybake.baking.quantization.products import Product


def replace_products(nodes: Nodes, layer: Sequence[Product], y: ir.Value, shift: Floats) -> None:
    """Give each product of a layer its columns of ``y + shift``.

    Args:
        nodes: Adds nodes before the first product.
        layer: The products, in the order of their columns.
        y: float32 ``[..., out]``, the columns of all.
        shift: ``[out]``.
    """
    if shift.any():
        # Two axes prevent a fusion: ONNX Runtime's BiasGelu is slower than its parts.
        y = nodes.op("Add", y, nodes.constant(f"{layer[0].end.name}.shift", shift[np.newaxis]))
    sizes = [product.sizes[1] for product in layer]
    parts = nodes.split(y, sizes, f"{layer[0].weight.name}.sizes") if len(layer) > 1 else [y]
    for product, part in zip(layer, parts, strict=True):
        nodes.replace(product.end, part)
        if product.node is not product.end:
            nodes.drop(product.node)
