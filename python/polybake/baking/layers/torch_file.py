"""The tensors of a file that ``torch.save`` wrote of a state dict, without PyTorch.

The file is a zip whose entries are not compressed: a pickle that describes the tensors, and the
numbers of each storage.

Source: ``torch/serialization.py`` of PyTorch 2.15; the format is PyTorch 1.6's.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from polybake.baking.layers.pickle_machine import shortened
from polybake.baking.layers.state_dict import Storage, View, read_state_dict
from polybake.base.files.printable import printable
from polybake.errors import InputError

#: Bytes of the pickle, and of the list of entries: those of an encoder have some hundred thousand.
_LARGEST = 4 << 20

_ZIP = b"PK\3\4"
#: What a file begins with that a PyTorch before 1.6 wrote: its magic number, pickled.
_OLD = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

_ENCRYPTED = 1

#: An entry's own header: the lengths of its name and of what follows that.
_HEADER = struct.Struct("<4s22x2H")

_DTYPES: Mapping[str, np.dtype[Any]] = {
    **{name: np.dtype(f"<f{size}") for name, size in (("F64", 8), ("F32", 4), ("F16", 2))},
    **{name: np.dtype(f"<i{size}") for name, size in (("I64", 8), ("I32", 4), ("I16", 2))},
    "I8": np.dtype(np.int8),
    "U8": np.dtype(np.uint8),
    "BOOL": np.dtype(np.bool_),
    "BF16": np.dtype(ml_dtypes.bfloat16),
}


@dataclass(frozen=True)
class TorchTensor:
    """A tensor of a file, not read yet.

    Attributes:
        place: Where its storage begins, in bytes.
    """

    file: Path
    view: View
    place: int

    def array(self) -> NDArray[Any]:
        """Read the numbers."""
        view, dtype = self.view, _DTYPES[self.view.storage.dtype]
        if not view.extent:
            return np.empty(view.shape, dtype)
        begin = self.place + view.offset * dtype.itemsize
        numbers = np.memmap(self.file, dtype, "r", begin, (view.extent,))
        strides = [stride * dtype.itemsize for stride in view.strides]
        strided = np.lib.stride_tricks.as_strided(numbers, view.shape, strides)
        return np.array(strided, order="C")


def torch_tensors(path: Path) -> dict[str, TorchTensor]:
    """Return the tensors of the file ``path`` by name.

    Raises:
        InputError: It is no file of PyTorch 1.6 or later, or damaged; its numbers are big endian;
            or its pickle holds anything but tensors.
    """
    try:
        with _Bounded(io.FileIO(path)) as file:
            _check_begin(file.read(len(_OLD)), path)
            archive = _Archive(file, path.stat().st_size)
            views = read_state_dict(archive.read("data.pkl"), path)
            storages = {view.storage for view in views.values()}
            places = {storage: archive.numbers(storage) for storage in storages}
    except (ValueError, OSError) as error:
        raise InputError(
            f"{path}: {printable(str(error))}; download it again, or get the weights as "
            "safetensors from whoever made them"
        ) from error
    return {name: TorchTensor(path, view, places[view.storage]) for name, view in views.items()}


def _check_begin(begin: bytes, path: Path) -> None:
    if begin == _OLD:
        raise InputError(
            f"{path}: a PyTorch before 1.6 wrote it, expected a later one; if you trust whoever "
            "made it, load it with torch.load(…, weights_only=True), and write it with "
            "safetensors.torch.save_file"
        )
    if not begin.startswith(_ZIP):
        raise ValueError(f"begins with {begin!r}, expected a zip file of PyTorch")


class _Bounded(io.BufferedReader):
    """A file for zipfile, which reads a list of entries as long as the file says that it is."""

    def read(self, size: int | None = -1) -> bytes:
        if size is not None and size > _LARGEST:
            raise ValueError(f"has an entry or a list of {size} bytes, expected at most {_LARGEST}")
        return super().read(size)


class _Archive:
    """The entries of a file that PyTorch wrote; none is compressed.

    Raises:
        ValueError: It is no such file.
    """

    def __init__(self, file: _Bounded, size: int) -> None:
        self._file, self._size = file, size
        try:
            listed = zipfile.ZipFile(file).infolist()
        except Exception as error:  # a damaged list ends in errors of many kinds
            raise ValueError(f"is no whole zip file ({error})") from error
        self._entries = {entry.filename: entry for entry in listed}
        found = [name for name in self._entries if re.fullmatch(r"[^/]+/data\.pkl", name)]
        if len(found) != 1 or len(self._entries) != len(listed):
            raise ValueError("has entries twice, or not one data.pkl in one folder")
        self._root = found[0].removesuffix("data.pkl")
        for name, entry in self._entries.items():
            stored = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & _ENCRYPTED
            stored = stored and entry.file_size == entry.compress_size
            if not name.startswith(self._root) or ".." in name or not stored:
                raise ValueError(
                    f"has the entry {shortened(name)}, expected entries that are not compressed, "
                    f"in {shortened(self._root)}"
                )
        if self._root + "byteorder" in self._entries and self.read("byteorder") != b"little":
            raise ValueError("has numbers that are not little endian; save it on another processor")

    def read(self, name: str) -> bytes:
        """Return the content of an entry."""
        begin, size = self._place(name)
        self._file.seek(begin)
        return self._file.read(size)

    def numbers(self, storage: Storage) -> int:
        """Return where the numbers of a storage begin."""
        begin, size = self._place(f"data/{storage.key}")
        expected = storage.size * _DTYPES[storage.dtype].itemsize
        if size != expected:
            raise ValueError(
                f"has {size} bytes in data/{storage.key}, expected {expected}: {storage.size} "
                f"numbers of {storage.dtype}"
            )
        return begin

    def _place(self, name: str) -> tuple[int, int]:
        """Return where the content of an entry begins, and its size; both are in the file."""
        entry = self._entries.get(self._root + name)
        if entry is None:
            raise ValueError(f"has no entry {name}")
        begin, header = entry.header_offset, b""
        if 0 <= begin <= self._size:
            self._file.seek(begin)
            header = self._file.read(_HEADER.size)
        if len(header) == _HEADER.size and header.startswith(_ZIP):
            _, *lengths = _HEADER.unpack(header)
            begin += _HEADER.size + sum(lengths)
            if begin + entry.file_size <= self._size:
                return begin, entry.file_size
        raise ValueError(f"has no whole entry {name}")
