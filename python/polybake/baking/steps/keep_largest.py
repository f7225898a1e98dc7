"""Keep the largest elements of every embedding, and make the others 0."""

from typing import ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError


class KeepLargest(Pointwise):
    """Keep the ``count`` elements that are furthest from 0; of equal ones the first.

    Attributes:
        count: Elements that stay.

    Source: sentence-transformers ``select_max_active_dims``.
    """

    name: ClassVar[str] = "keep_largest"

    count: int = Field(gt=0, strict=True)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the choice to the graph.

        Raises:
            InputError: the embedding is shorter.
        """
        found = x.shape[-1] if x.shape is not None else None
        if not isinstance(found, int) or found < self.count:
            raise InputError(
                f"keep_largest: the count is {self.count} and the embedding has {found} elements; "
                f"give at most {found}"
            )
        _, places = op.TopK(op.Abs(x), [self.count], axis=-1, _outputs=2)
        kept = op.GatherElements(x, places, axis=-1)
        zeros = op.Expand(op.Cast(0.0, to=x.dtype), op.Shape(x))
        y: ir.Value = op.ScatterElements(zeros, places, kept, axis=-1)
        y.shape = x.shape
        return y

    def formula(self, x: Floats) -> Floats:
        """Choose in NumPy."""
        places = np.argsort(-np.abs(x), axis=-1, kind="stable")[..., : self.count]
        kept = np.zeros_like(x)
        np.put_along_axis(kept, places, np.take_along_axis(x, places, axis=-1), axis=-1)
        return kept
