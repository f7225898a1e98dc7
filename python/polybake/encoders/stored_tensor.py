"""The tensors of a safetensors file, each read only when it is written into a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxscript import ir
from safetensors import SafetensorError, safe_open

from polybake.errors import InputError


@dataclass(frozen=True)
class StoredTensor:
    """One tensor of a checkpoint, not read yet.

    Attributes:
        dtype: As safetensors names it, such as ``F16``.
    """

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: str

    def lazy(
        self, *, dtype: ir.DataType = ir.DataType.FLOAT, transposed: bool = False
    ) -> ir.LazyTensor:
        """The tensor as ``dtype``, for an initializer of a graph."""
        shape = self.shape[::-1] if transposed else self.shape
        return ir.LazyTensor(lambda: self._read(dtype, transposed), dtype, ir.Shape(shape))

    def _read(self, dtype: ir.DataType, transposed: bool) -> ir.TensorProtocol:
        with safe_open(self.file, framework="numpy") as file:
            array = file.get_tensor(self.name).astype(dtype.numpy(), copy=False)
        return ir.tensor(np.ascontiguousarray(array.T) if transposed else array)


def stored_tensors(path: Path) -> Iterator[StoredTensor]:
    """What the safetensors file ``path`` holds.

    Raises:
        InputError: it is damaged.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            for name in file.keys():  # noqa: SIM118 - safe_open is no mapping
                tensor = file.get_slice(name)
                yield StoredTensor(path, name, tuple(tensor.get_shape()), tensor.get_dtype())
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{path}: is not a whole safetensors file ({error}); download it again"
        ) from error
