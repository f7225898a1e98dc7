"""Keep some elements of every embedding, by their places."""

from typing import Annotated, ClassVar

import numpy as np
from onnxscript import OpBuilder, ir
from pydantic import Field

from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError

_Place = Annotated[int, Field(ge=0, strict=True)]


class Select(Pointwise):
    """Keep the elements at ``places``, in their order, such as two of a classifier's numbers.

    Attributes:
        places: From 0 on.
    """

    name: ClassVar[str] = "select"

    places: tuple[_Place, ...] = Field(min_length=1)

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the choice to the graph.

        Raises:
            InputError: the embedding has no such place.
        """
        found = x.shape[-1] if x.shape is not None else None
        if not isinstance(found, int) or found <= max(self.places):
            raise InputError(
                f"select: place {max(self.places)} is chosen, and the embedding has {found} "
                "elements; count from 0"
            )
        return op.Gather(x, [*self.places], axis=-1)

    def formula(self, x: Floats) -> Floats:
        """Choose in NumPy."""
        return np.take(x, self.places, axis=-1)
