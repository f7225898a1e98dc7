"""What every post-processing step is."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from polybake.steps.tokens import Tokens

if TYPE_CHECKING:
    from onnxscript import OpBuilder, ir

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]


class Step(BaseModel, abc.ABC):
    """One post-processing function with its parameters, as ONNX operators and in NumPy.

    Both forms take ``x``, which is float ``[batch, sequence, hidden]`` before pooling and
    ``[batch, dimension]`` after it, and the tokens that it comes from. The NumPy form is the
    independent formula that a bake is proven with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: ClassVar[str]

    @abc.abstractmethod
    def build(self, op: OpBuilder, x: ir.Value, tokens: Tokens[ir.Value]) -> ir.Value:
        """Add the step's operators to the graph and return its result."""

    @abc.abstractmethod
    def numpy(self, x: Floats, tokens: Tokens[Integers]) -> NDArray[np.number[Any]]:
        """Compute the same in NumPy."""

    def __str__(self) -> str:
        """The step as the manifest shows it, such as ``pool(mode=mean)``."""
        parts = (f"{key}={_readable(value)}" for key, value in self if value is not None)
        return f"{self.name}({', '.join(parts)})"


def _readable(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "x".join(str(size) for size in value.shape)
    return str(value)
