"""The weights of an ONNX file, one at a time: each is freed after its use."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
from numpy.typing import NDArray

from polybake.baking.graph.external_data import place
from polybake.baking.graph.skeleton import GRAPH_INITIALIZER, MODEL_GRAPH, fields
from polybake.base.files.model_folder import ModelFolder

_TENSOR_NAME = 8
_DATA_LOCATION = 14


class StoredWeights:
    """The initializers of a mapped file, by name."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self._data = data
        self._path = path
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
        """The weight as a graph holds it; equal bytes are equal weights."""
        begin, end = self._places[name]
        message = self._data[begin:end]
        if all(number != _DATA_LOCATION for number, *_ in fields(self._data, begin, end)):
            return message
        tensor = onnx.TensorProto.FromString(message)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            folder = ModelFolder.at(self._path.parent)
            file, offset, length = place(tensor, folder, self._path)
            with (self._path.parent / file).open("rb") as stored:
                stored.seek(offset)
                tensor.raw_data = stored.read(length)
            tensor.ClearField("external_data")
        tensor.ClearField("data_location")
        content: bytes = tensor.SerializeToString(deterministic=True)
        return content

    def array(self, name: str) -> NDArray[Any]:
        """The numbers of a weight, of the dtype that it is stored in."""
        tensor = onnx.TensorProto.FromString(self.message(name))
        return onnx.numpy_helper.to_array(tensor)


@contextmanager
def stored_weights(path: Path) -> Iterator[StoredWeights]:
    """Map the weights of an ONNX file that is not empty."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        yield StoredWeights(data, path)


def _names(data: mmap.mmap, begin: int, end: int) -> Iterator[str]:
    """The name of the tensor that stands here."""
    for number, _, start, stop in fields(data, begin, end):
        if number == _TENSOR_NAME:
            yield data[start:stop].decode("utf-8", "replace")
