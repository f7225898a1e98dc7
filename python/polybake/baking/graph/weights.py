"""The weights of an ONNX file, one at a time: each is freed after its use."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray

from polybake.baking.graph.skeleton import GRAPH_INITIALIZER, MODEL_GRAPH, fields

_TENSOR_NAME = 8


class StoredWeights:
    """The initializers of a mapped file, by name.

    Args:
        data: A whole ``ModelProto`` whose weights lie in it.

    Raises:
        DecodeError: not whole protobuf.
    """

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._places = {
            name: (begin, end)
            for number, _, graph, after in fields(data, 0, len(data))
            if number == MODEL_GRAPH
            for inner, _, begin, end in fields(data, graph, after)
            if inner == GRAPH_INITIALIZER
            for name in _names(data, begin, end)
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def message(self, name: str) -> bytes:
        """The weight as it is stored; equal bytes are equal weights."""
        begin, end = self._places[name]
        return self._data[begin:end]

    def array(self, name: str) -> NDArray[Any]:
        """The numbers of a weight, of the dtype that it is stored in."""
        tensor = onnx.TensorProto.FromString(self.message(name))
        return onnx.numpy_helper.to_array(tensor)


@contextmanager
def stored_weights(path: Path) -> Iterator[StoredWeights]:
    """Map the weights of an ONNX file that is not empty.

    Raises:
        DecodeError: not whole protobuf.
        OSError: the file cannot be read.
    """
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        yield StoredWeights(data)


def _names(data: mmap.mmap, begin: int, end: int) -> Iterator[str]:
    """The name of the tensor that stands here."""
    for number, _, start, stop in fields(data, begin, end):
        if number == _TENSOR_NAME:
            yield data[start:stop].decode("utf-8", "replace")
