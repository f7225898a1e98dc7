"""The little of protobuf's wire format that a model file's head needs.

Source: protobuf, "Encoding"; onnx.proto, ``ModelProto`` and ``StringStringEntryProto``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

#: ``ModelProto.metadata_props``.
METADATA_PROPS = 14

_KEY, _VALUE = 1, 2
_LENGTH = 2
_LONGEST_VARINT = 10


class DamagedError(Exception):
    """The bytes are no whole message; ``position`` is the tag at which reading stopped."""

    def __init__(self, position: int) -> None:
        """Remember the position, in bytes."""
        super().__init__(f"byte {position}")
        self.position = position


@dataclass(frozen=True)
class Field:
    """One field: its number, where its tag stands, and where its content lies, in bytes."""

    number: int
    start: int
    begin: int
    end: int


def fields(file: BinaryIO) -> Iterator[Field]:
    """Visit every field of the message in a file, seeking past its content.

    Raises:
        DamagedError: a wrong tag, or a length beyond the end.
    """
    size = file.seek(0, os.SEEK_END)
    position = 0
    while position < size:
        field = _field(file, position)
        if field.end > size:
            raise DamagedError(position)
        yield field
        position = field.end


def read_entry(file: BinaryIO, field: Field) -> tuple[str, bytes]:
    """Key and value of one metadata entry.

    Raises:
        DamagedError: it is none; the position is that of the entry itself.
    """
    file.seek(field.begin)
    data = file.read(field.end - field.begin)
    parts = {_KEY: b"", _VALUE: b""}
    try:
        for part in fields(io.BytesIO(data)):
            parts[part.number] = data[part.begin : part.end]
    except DamagedError as error:
        raise DamagedError(field.start) from error
    return parts[_KEY].decode("utf-8", "replace"), parts[_VALUE]


def entry(key: str, value: bytes) -> bytes:
    """A metadata entry as a field of a ``ModelProto``."""
    name = key.encode("ascii")
    body = _tagged(_KEY, name) + _tagged(_VALUE, value)
    return _tagged(METADATA_PROPS, body)


def varint(value: int) -> bytes:
    """A protobuf varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tagged(number: int, content: bytes) -> bytes:
    return varint(number << 3 | _LENGTH) + varint(len(content)) + content


def _field(file: BinaryIO, start: int) -> Field:
    tag, begin = _read_varint(file, start, start)
    number, wire = tag >> 3, tag & 7
    if number == 0:
        raise DamagedError(start)
    match wire:
        case 0:
            _, end = _read_varint(file, begin, start)
        case 1:
            end = begin + 8
        case 2:
            length, begin = _read_varint(file, begin, start)
            end = begin + length
        case 5:
            end = begin + 4
        case _:
            raise DamagedError(start)
    return Field(number, start, begin, end)


def _read_varint(file: BinaryIO, position: int, start: int) -> tuple[int, int]:
    """The varint at ``position`` and where it ends; an error names the tag at ``start``."""
    file.seek(position)
    value = 0
    for index, byte in enumerate(file.read(_LONGEST_VARINT)):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise DamagedError(start)
