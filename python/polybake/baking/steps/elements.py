"""Steps that keep some elements of an embedding: truncate, select, keep_largest."""

from typing import Annotated, ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.elementwise import Normalize
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError


class Truncate(Pointwise):
    """Truncate embeddings of a Matryoshka model to their first ``dimension`` elements.

    Attributes:
        dimension: Elements that stay.
        renormalize: Whether the rest is then divided by its L2 norm.

    Source: sentence-transformers ``truncate_dim``, which does not renormalise.
    """

    name: ClassVar[str] = "truncate"

    dimension: int = Field(gt=0, strict=True)
    renormalize: bool = Field(default=False, strict=True)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add a slice to the graph."""
        width = x.shape[-1] if x.shape is not None else None
        if not isinstance(width, int) or width < self.dimension:
            raise InputError(
                f"truncate: the dimension is {self.dimension} and the embedding has {width} "
                f"elements; give at most {width}"
            )
        y = op.Slice(x, [0], [self.dimension], [-1])
        return Normalize().onnx(op, y) if self.renormalize else y

    def formula(self, x: Floats) -> Floats:
        """Slice in NumPy."""
        y = x[..., : self.dimension]
        return Normalize().formula(y) if self.renormalize else y


_Place = Annotated[int, Field(ge=0, strict=True)]


class Select(Pointwise):
    """Keep the elements at ``places``, in their order, such as two of a classifier's numbers.

    Attributes:
        places: From 0 on.
    """

    name: ClassVar[str] = "select"

    places: tuple[_Place, ...] = Field(min_length=1)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the choice to the graph."""
        width = x.shape[-1] if x.shape is not None else None
        if not isinstance(width, int) or width <= max(self.places):
            raise InputError(
                f"select: place {max(self.places)} is chosen, and the embedding has {width} "
                "elements; count from 0"
            )
        return op.Gather(x, [*self.places], axis=-1)

    def formula(self, x: Floats) -> Floats:
        """Apply the step to NumPy arrays; return the next state."""
        return np.take(x, self.places, axis=-1)


class KeepLargest(Pointwise):
    """Keep the ``count`` elements that are furthest from 0; of equal ones the first.

    Attributes:
        count: Elements that stay.

    Source: sentence-transformers ``select_max_active_dims``.
    """

    name: ClassVar[str] = "keep_largest"

    count: int = Field(gt=0, strict=True)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the choice to the graph."""
        width = x.shape[-1] if x.shape is not None else None
        if not isinstance(width, int) or width < self.count:
            raise InputError(
                f"keep_largest: the count is {self.count} and the embedding has {width} elements; "
                f"give at most {width}"
            )
        _, places = op.TopK(op.Abs(x), [self.count], axis=-1, _outputs=2)
        values = op.GatherElements(x, places, axis=-1)
        zeros = op.Expand(op.Cast(0.0, to=x.dtype), op.Shape(x))
        y: ir.Value = op.ScatterElements(zeros, places, values, axis=-1)
        y.shape = x.shape
        return y

    def formula(self, x: Floats) -> Floats:
        """Apply the step to NumPy arrays; return the next state."""
        places = np.argsort(-np.abs(x), axis=-1, kind="stable")[..., : self.count]
        y = np.zeros_like(x)
        np.put_along_axis(y, places, np.take_along_axis(x, places, axis=-1), axis=-1)
        return y
