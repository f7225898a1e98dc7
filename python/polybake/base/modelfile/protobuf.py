"""Protobuf's wire format: the little of it that a model file's head needs, and whole messages.

Source: protobuf, "Encoding"; onnx.proto, ``ModelProto.metadata_props`` and
``StringStringEntryProto``.
"""

from collections.abc import Iterator

#: Tags of field number and wire type 2: a length and as many bytes follow.
_METADATA_PROPS, _KEY, _VALUE = b"\x72", b"\x0a", b"\x12"

#: The most bytes of a whole number, which has 64 bits.
_LONGEST_NUMBER = 10
#: The bytes of numbers of a fixed size, by wire type.
_FIXED = {1: 8, 5: 4}


class DamagedError(Exception):
    """The bytes do not form a whole field; ``position`` is the place of its tag."""

    def __init__(self, position: int) -> None:
        """Remember the position, in bytes."""
        super().__init__(f"byte {position}")
        self.position = position


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field of a message, in its order.

    A varint is a number of 64 bits without a sign; any other value is its bytes.
    """
    offset = 0
    while offset < len(message):
        begin = offset
        tag, offset = _number(message, offset, begin)
        number, wire = tag >> 3, tag & 7
        size = _FIXED.get(wire)
        if wire in (0, 2):
            size, offset = _number(message, offset, begin)
        if not number or size is None or (wire and size > len(message) - offset):
            raise DamagedError(begin)
        yield number, message[offset : offset + size] if wire else size
        offset += size if wire else 0


def entry(key: str, value: bytes) -> bytes:
    """A metadata entry as a field of a ``ModelProto``."""
    return _field(_METADATA_PROPS, _field(_KEY, key.encode("ascii")) + _field(_VALUE, value))


def varint(value: int) -> bytes:
    """A protobuf varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(message: bytes, offset: int, begin: int) -> tuple[int, int]:
    """Return the varint at a place, and the place behind it."""
    number = 0
    for index, byte in enumerate(message[offset : offset + _LONGEST_NUMBER]):
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return number, offset + index + 1
    raise DamagedError(begin)


def _field(tag: bytes, content: bytes) -> bytes:
    return tag + varint(len(content)) + content
