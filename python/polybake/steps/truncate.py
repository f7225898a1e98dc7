"""Keep the first elements of every embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from polybake.errors import InputError
from polybake.steps.normalize import Normalize
from polybake.steps.step import Floats, Integers, Step
from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Truncate(Step):
    """Cut embeddings of a Matryoshka model to their first ``dimension`` elements.

    Attributes:
        dimension: Elements that stay.
        renormalize: Whether the rest is then divided by its L2 norm.

    Source: sentence-transformers ``truncate_dim``, which does not renormalise.
    """

    name: ClassVar[str] = "truncate"

    dimension: int = Field(gt=0, strict=True)
    renormalize: bool = Field(default=False, strict=True)

    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
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
        return Normalize().build(op, y, tokens) if self.renormalize else y

    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> Floats:
        """Cut in NumPy."""
        y = x[..., : self.dimension]
        return Normalize().numpy(y, tokens) if self.renormalize else y
