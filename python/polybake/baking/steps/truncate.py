"""Keep the first elements of every embedding."""

from typing import ClassVar

from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.normalize import Normalize
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError


class Truncate(Pointwise):
    """Cut embeddings of a Matryoshka model to their first ``dimension`` elements.

    Attributes:
        dimension: Elements that stay.
        renormalize: Whether the rest is then divided by its L2 norm.

    Source: sentence-transformers ``truncate_dim``, which does not renormalise.
    """

    name: ClassVar[str] = "truncate"

    dimension: int = Field(gt=0, strict=True)
    renormalize: bool = Field(default=False, strict=True)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the cut to the graph.

        Raises:
            InputError: the embedding is shorter.
        """
        found = x.shape[-1] if x.shape is not None else None
        if not isinstance(found, int) or found < self.dimension:
            raise InputError(
                f"truncate: the dimension is {self.dimension} and the embedding has {found} "
                f"elements; give at most {found}"
            )
        y = op.Slice(x, [0], [self.dimension], [-1])
        return Normalize().onnx(op, y) if self.renormalize else y

    def formula(self, x: Floats) -> Floats:
        """Cut in NumPy."""
        y = x[..., : self.dimension]
        return Normalize().formula(y) if self.renormalize else y
