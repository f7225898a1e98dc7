"""A step of one's own: clip every element of an embedding.

polybake runs this file while it bakes, and never afterwards: only the operators that ``step``
adds become part of the model file.
"""

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir


def step(op: OpBuilder, embedding: ir.Value, limit: float = 0.5) -> ir.Value:
    """Add the step to the graph: float32 [batch, dimension] to float32 [batch, dimension].

    ``op`` has every ONNX operator by its name. Give axes by keyword, numbers as they are, and
    arrays as op.initializer(ir.tensor(array), "name").
    """
    result: ir.Value = op.Clip(embedding, -limit, limit)
    return result


def reference(embedding: NDArray[np.float64], limit: float = 0.5) -> NDArray[np.float64]:
    """Compute the same in NumPy: the bake compares both. Without it, less is proven."""
    return np.clip(embedding, -limit, limit)
