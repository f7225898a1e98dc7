"""Files as ``torch.save`` writes them of a state dict, made without PyTorch.

tests/oracle/test_torch_file.py compares them with PyTorch's own, byte for byte.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

CLASSES = {
    np.dtype(np.float64): "DoubleStorage",
    np.dtype(np.float32): "FloatStorage",
    np.dtype(np.float16): "HalfStorage",
    np.dtype(ml_dtypes.bfloat16): "BFloat16Storage",
    np.dtype(np.int64): "LongStorage",
    np.dtype(np.int32): "IntStorage",
    np.dtype(np.int16): "ShortStorage",
    np.dtype(np.int8): "CharStorage",
    np.dtype(np.uint8): "ByteStorage",
    np.dtype(np.bool_): "BoolStorage",
}


@dataclass(frozen=True)
class Name:
    """A name that a pickle imports."""

    module: str
    name: str

    def __call__(self) -> None:
        """Never called: what is pickled by a call must look callable."""


_STORAGES = {name: Name("torch", name) for name in CLASSES.values()}
_TENSOR = Name("torch._utils", "_rebuild_tensor_v2")
_PARAMETER = Name("torch._utils", "_rebuild_parameter")


@dataclass(eq=False)
class Storage:
    """Numbers, ``[size]``."""

    numbers: NDArray[Any]


@dataclass(eq=False)
class Tensor:
    """A view of a storage; strides count numbers."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, array: NDArray[Any]) -> Tensor:
        """An array with a storage of its own."""
        flat = np.ascontiguousarray(array).reshape(-1)
        strides = tuple(size // array.itemsize for size in np.empty_like(array, order="C").strides)
        return cls(Storage(flat), 0, array.shape, strides)


@dataclass(eq=False)
class Parameter:
    """A tensor that is trained."""

    tensor: Tensor


class _Pickler(pickle._Pickler):
    """Writes names that cannot be imported here, and storages as PyTorch does."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=2)
        self.storages: dict[int, tuple[str, Storage]] = {}

    def persistent_id(self, obj: object) -> object:
        if not isinstance(obj, Storage):
            return None
        key, _ = self.storages.setdefault(id(obj), (str(len(self.storages)), obj))
        kind = _STORAGES[CLASSES[obj.numbers.dtype]]
        return ("storage", kind, key, "cpu", obj.numbers.size)

    def save_name(self, obj: Name) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def save_tensor(self, obj: Tensor) -> None:
        places = (obj.offset, obj.shape, obj.strides)
        self.save_reduce(_TENSOR, (obj.storage, *places, False, OrderedDict()), obj=obj)

    def save_parameter(self, obj: Parameter) -> None:
        self.save_reduce(_PARAMETER, (obj.tensor, True, OrderedDict()), obj=obj)

    dispatch = {  # noqa: RUF012 - as its base has it
        **pickle._Pickler.dispatch,
        Name: save_name,
        Tensor: save_tensor,
        Parameter: save_parameter,
    }


def pickled(state: object) -> tuple[bytes, list[NDArray[Any]]]:
    """The pickle of a state dict, and the numbers of its storages in the order of their names."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(state)
    return file.getvalue(), [storage.numbers for _, storage in pickler.storages.values()]


def state_of(arrays: Mapping[str, NDArray[Any]]) -> OrderedDict[str, Tensor]:
    """A module's state dict with these tensors, and with the versions of modules."""
    state = OrderedDict((name, Tensor.of(array)) for name, array in arrays.items())
    state._metadata = OrderedDict({"": {"version": 1}})  # type: ignore[attr-defined]
    return state


def entries_of(state: object) -> dict[str, bytes]:
    """The entries of PyTorch's zip by name."""
    data, storages = pickled(state)
    return {
        "archive/data.pkl": data,
        "archive/byteorder": b"little",
        **{f"archive/data/{key}": one.tobytes() for key, one in enumerate(storages)},
        "archive/version": b"3\n",
    }


def write_zip(path: Path, entries: Mapping[str, bytes], **how: Any) -> Path:
    """Write entries, which are not compressed by default."""
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def write_torch(path: Path, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write what ``torch.save(module.state_dict(), path)`` writes."""
    return write_zip(path, entries_of(state_of(arrays)))
