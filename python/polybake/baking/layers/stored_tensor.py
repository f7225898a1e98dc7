"""The tensors of a file of weights, each read only when it is written into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnxscript import ir
from safetensors import SafetensorError, safe_open

from polybake.baking.layers.torch_file import torch_tensors
from polybake.errors import InputError

#: The ends of a pickle's name; a checkpoint has one only if the user wants its tensors.
PICKLED = (".bin", ".pt")


@dataclass(frozen=True)
class StoredTensor:
    """A tensor of a checkpoint, not read yet.

    Attributes:
        dtype: The dtype by safetensors' name, such as ``F16``.
        array: Reads its numbers.
    """

    file: Path
    name: str
    shape: tuple[int, ...]
    dtype: str
    array: Callable[[], NDArray[Any]]

    def lazy(
        self, *, dtype: ir.DataType = ir.DataType.FLOAT, transposed: bool = False
    ) -> ir.LazyTensor:
        """Return the tensor as ``dtype``, for an initializer of a graph.

        Reading it raises an `InputError` if a number is NaN or infinite.
        """
        shape = self.shape[::-1] if transposed else self.shape
        return ir.LazyTensor(lambda: self._read(dtype, transposed), dtype, ir.Shape(shape))

    def rows(self, indices: NDArray[np.int64], *, transposed: bool = False) -> StoredTensor:
        """Return some rows of a matrix as a tensor of the same name."""

        def read() -> NDArray[Any]:
            rows = self.array()[indices]
            return rows.T if transposed else rows

        shape = (len(indices), *self.shape[1:])
        return replace(self, shape=shape[::-1] if transposed else shape, array=read)

    def equals(self, other: StoredTensor) -> bool:
        """Whether the two hold the same values."""
        return np.array_equal(self.array(), other.array())

    def _read(self, dtype: ir.DataType, transposed: bool) -> ir.TensorProtocol:
        array = self.array().astype(dtype.numpy(), copy=False)
        if not np.isfinite(array).all():
            raise InputError(
                f"{self.file}: {self.name} holds {array[~np.isfinite(array)][0]}, expected finite "
                "numbers; download the model again, or save it anew"
            )
        return ir.tensor(np.ascontiguousarray(array.T) if transposed else array)


def stored_tensors(path: Path) -> Iterator[StoredTensor]:
    """Yield the tensors of ``path``, a safetensors file or one of PyTorch."""
    if path.suffix in PICKLED:
        for name, entry in torch_tensors(path).items():
            yield StoredTensor(path, name, entry.view.shape, entry.view.storage.dtype, entry.array)
        return
    with _whole(path), safe_open(path, framework="numpy") as file:
        for name in file.keys():  # noqa: SIM118 - safe_open is no mapping
            tensor = file.get_slice(name)
            loader = partial(_array, path, name)
            yield StoredTensor(path, name, tuple(tensor.get_shape()), tensor.get_dtype(), loader)


def _array(path: Path, name: str) -> NDArray[Any]:
    with _whole(path), safe_open(path, framework="numpy") as file:
        array: NDArray[Any] = file.get_tensor(name)
    return array


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"{path}: is not a whole safetensors file ({error}); download it again"
        ) from error
