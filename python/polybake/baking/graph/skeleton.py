"""The graph of an ONNX file without its large weights, which are not read.

Source: protobuf, "Encoding"; onnx.proto, ``ModelProto``, ``GraphProto`` and ``TensorProto``.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from polybake.base.modelfile.protobuf import varint

#: Fields of ``ModelProto`` and ``GraphProto``.
MODEL_GRAPH = 7
GRAPH_INITIALIZER = 5

#: The fields with a tensor's dimensions, type, name and place; all other fields hold data.
_DESCRIPTION = (1, 2, 8, 13, 14)

#: The most bytes of a 64-bit number.
_LONGEST_VARINT = 10

#: Number of a field, where its tag begins, and where its content begins and ends.
Field = tuple[int, int, int, int]


def read_skeleton(path: Path, largest: int) -> onnx.ModelProto:
    """Read everything but the data of initializers of more than ``largest`` bytes."""
    with path.open("rb") as file:
        try:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # an empty file
            return onnx.ModelProto()
        with data:
            try:
                content = b"".join(_model(data, largest))
            except IndexError as error:
                raise DecodeError("the message ends too soon") from error
    model: onnx.ModelProto = onnx.ModelProto.FromString(content)
    return model


def _model(data: mmap.mmap, largest: int) -> Iterator[bytes]:
    for number, start, begin, end in fields(data, 0, len(data)):
        if number != MODEL_GRAPH:
            yield data[start:end]
        else:
            graph = b"".join(_graph(data, begin, end, largest))
            yield _field(MODEL_GRAPH, graph)


def _graph(data: mmap.mmap, begin: int, end: int, largest: int) -> Iterator[bytes]:
    for number, start, inner, after in fields(data, begin, end):
        if number != GRAPH_INITIALIZER or after - inner <= largest:
            yield data[start:after]
        else:
            parts = fields(data, inner, after)
            tensor = b"".join(data[at:to] for tag, at, _, to in parts if tag in _DESCRIPTION)
            yield _field(GRAPH_INITIALIZER, tensor)


def fields(data: mmap.mmap, position: int, end: int) -> Iterator[Field]:
    """Yield the fields of the message between two positions."""
    while position < end:
        tag, begin = _varint(data, position)
        match tag & 7:
            case 0:
                _, after = _varint(data, begin)
            case 1:
                after = begin + 8
            case 2:
                length, begin = _varint(data, begin)
                after = begin + length
            case 5:
                after = begin + 4
            case _:
                raise DecodeError(f"wire type {tag & 7}")
        if after > end:
            raise DecodeError("a field ends behind its message")
        yield tag >> 3, position, begin, after
        position = after


def _varint(data: mmap.mmap, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST_VARINT):
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise DecodeError(f"a number of more than {_LONGEST_VARINT} bytes")


def _field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content
