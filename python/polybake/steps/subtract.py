"""Subtract a fixed vector from every embedding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator

from polybake.errors import InputError
from polybake.steps.step import Floats, Mask, Step

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir


class Subtract(Step):
    """Subtract ``vector``, such as the mean embedding of a corpus (mean debiasing).

    Attributes:
        vector: float32 ``[dimension]``, finite.
    """

    name: ClassVar[str] = "subtract"

    vector: NDArray[np.float32]

    @field_validator("vector")
    @classmethod
    def _is_one_finite_row(cls, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise ValueError(
                f"expected one row of finite numbers, found shape {list(vector.shape)}"
            )
        return vector

    def build(self, op: OpBuilder, x: ir.Value, attention_mask: ir.Value) -> ir.Value:
        """Add ``x - vector`` to the graph.

        Raises:
            InputError: the vector's size is not the embedding's.
        """
        expected = x.shape[-1] if x.shape is not None else None
        if expected != len(self.vector):
            raise InputError(
                f"subtract: the vector has {len(self.vector)} elements and the embedding "
                f"{expected}; give a vector of {expected}"
            )
        from onnxscript import ir

        return op.Sub(x, op.initializer(ir.tensor(self.vector), "vector"))

    def numpy(self, x: Floats, attention_mask: Mask) -> Floats:
        """Compute ``x - vector``."""
        return x - self.vector
