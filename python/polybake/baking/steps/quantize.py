"""Turn every embedding into small integers, or into bits."""

from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from onnxscript import OpBuilder, ir
from pydantic import model_validator

from polybake.baking.steps.arrays import Matrix, check_embedding, check_pooled, embedding_size
from polybake.baking.steps.state import Floats
from polybake.baking.steps.step import Pointwise
from polybake.errors import InputError

#: The offset of int8, whose range begins at -128.
_LOWEST = 128

#: What tanh is multiplied by.
_TANH = 127.0

#: The values of eight dimensions in their byte; the first dimension is the highest bit.
_PLACES = (128, 64, 32, 16, 8, 4, 2, 1)


class Quantize(Pointwise):
    """Quantize an embedding; the last step.

    ``uint8`` is ``clip(floor((x - low) / ((high - low) / 255)), 0, 255)`` in float32, where
    ``low`` and ``high`` are an element's range, and a range of width 0 has steps of width 1;
    ``int8`` is 128 less. ``ubinary`` packs eight dimensions into a byte, the first one highest,
    1 where ``x > 0``; ``binary`` is 128 less. int8 with the function ``tanh`` is
    ``round(127 * tanh(x))``, halves to even.

    Attributes:
        precision: int8 and uint8 give an integer for each element, the others one for eight.
        ranges: float32 ``[2, dimension]``, the smallest and the largest value of each element,
            for int8 and uint8.
        function: ``tanh`` in the place of ranges.

    Source: sentence-transformers ``quantize_embeddings``, version 6; with tanh
    ``Int8TanhQuantizer`` of perplexity-ai/pplx-embed-v1.
    """

    name: ClassVar[str] = "quantize"
    final: ClassVar[bool] = True

    precision: Literal["int8", "uint8", "binary", "ubinary"]
    ranges: Matrix | None = None
    function: Literal["tanh"] | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if self.function is not None:
            if self.precision != "int8" or self.ranges is not None:
                ranges = "no ranges" if self.ranges is None else "ranges"
                raise ValueError(
                    f"has function tanh, precision {self.precision} and {ranges}; tanh goes with "
                    'precision int8 and without ranges: set precision = "int8" and drop ranges'
                )
            return self
        if self.packs:
            if self.ranges is not None:
                raise ValueError(f"{self.precision} takes no ranges; drop them")
            return self
        if self.ranges is None:
            raise ValueError(
                f"{self.precision} needs ranges; write ranges.npy with: polybake fit --ranges"
            )
        if len(self.ranges) != 2:
            raise ValueError(
                f"expected a row of smallest and a row of largest values, found shape "
                f"{list(self.ranges.shape)}; write them with: polybake fit --ranges"
            )
        low, high = self.ranges
        if (low > high).any():
            first = int(np.argmax(low > high))
            raise ValueError(
                f"the range of dimension {first} begins at {low[first]:g} and ends at "
                f"{high[first]:g}; put the smallest values into the first row"
            )
        return self

    @property
    def packs(self) -> bool:
        """Whether an element of the result holds eight dimensions."""
        return self.precision in ("binary", "ubinary")

    @property
    def dtype(self) -> Literal["int8", "uint8"]:
        """The dtype of the result."""
        return "int8" if self.precision in ("int8", "binary") else "uint8"

    def onnx(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        """Add the quantization to the graph."""
        check_pooled(x, "quantize")
        if self.function is not None:
            return op.Cast(op.Round(op.Mul(op.Tanh(x), _TANH)), to=ir.DataType.INT8)
        y = self._pack(op, x) if self.packs else self._levels(op, x)
        if self.dtype == "int8":
            return op.Cast(op.Sub(y, float(_LOWEST)), to=ir.DataType.INT8)
        return op.Cast(y, to=ir.DataType.UINT8)

    def formula(self, x: Floats) -> NDArray[np.int8 | np.uint8]:
        """Compute the same; ``x`` is rounded to float32 first."""
        x = x.astype(np.float32)
        if self.function is not None:
            return np.rint(np.tanh(x) * np.float32(_TANH)).astype(np.int8)
        if self.packs:
            levels = np.packbits(x > 0, axis=-1)
        else:
            low, width = self._steps()
            levels = np.clip(np.floor((x - low) / width), 0, 255).astype(np.uint8)
        return levels if self.dtype == "uint8" else (levels ^ _LOWEST).view(np.int8)

    def _levels(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        low, width = self._steps()
        check_embedding(x, len(low), "quantize: a row of the ranges")
        y = op.Sub(x, op.initializer(ir.tensor(low), "low"))
        y = op.Floor(op.Div(y, op.initializer(ir.tensor(width), "width")))
        return op.Clip(y, 0.0, 255.0)

    def _pack(self, op: OpBuilder, x: ir.Value) -> ir.Value:
        dimension = embedding_size([x])
        assert dimension is not None  # noqa: S101 - check_pooled
        if dimension % len(_PLACES):
            raise InputError(
                f"quantize: eight dimensions make a byte and the embedding has {dimension}; "
                f'put before it: step = "truncate", dimension = {dimension - dimension % 8}'
            )
        bits = op.Cast(op.Greater(x, 0.0), to=ir.DataType.FLOAT)
        bits = op.Reshape(bits, [-1, dimension // len(_PLACES), len(_PLACES)])
        return op.MatMul(bits, [float(power) for power in _PLACES])

    def _steps(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return where each element's first step begins, and the width of its steps, float32."""
        assert self.ranges is not None  # noqa: S101 - checked when the step was made
        low, high = self.ranges
        width = (high - low) / np.float32(255)
        return low, np.where(width == 0, np.float32(1), width)
