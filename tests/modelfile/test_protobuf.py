"""Protobuf's wire format, as far as a head needs it."""

from __future__ import annotations

import io

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.modelfile.protobuf import DamagedError, entry, fields, read_entry, varint


@given(st.integers(0, 2**63 - 1))
def test_a_varint_is_read_as_it_was_written(value: int) -> None:
    """A field of wire type 0 ends where its varint ends, whatever the number."""
    data = b"\x08" + varint(value)
    (field,) = fields(io.BytesIO(data))
    assert (field.number, field.begin, field.end) == (1, 1, len(data))


@given(st.text(st.characters(max_codepoint=127), max_size=200), st.binary(max_size=300))
def test_onnx_reads_an_entry(key: str, value: bytes) -> None:
    """An entry is one that protobuf itself parses, and reads back."""
    if value.isascii():
        (parsed,) = onnx.ModelProto.FromString(entry(key, value)).metadata_props
        assert (parsed.key, parsed.value) == (key, value.decode())
    file = io.BytesIO(entry(key, value))
    (field,) = fields(file)
    assert read_entry(file, field) == (key, value)


def test_damage_inside_an_entry_is_named_by_the_entry() -> None:
    """A key that is longer than its entry is found at the entry's own tag."""
    file = io.BytesIO(b"\x08\x01\x72\x03\x0a\x09x")
    _, field = fields(file)
    with pytest.raises(DamagedError) as caught:
        read_entry(file, field)
    assert caught.value.position == 2


@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"\x02", 0),  # field number 0
        (b"\x0b", 0),  # wire type 3
        (b"\x08", 0),  # no varint
        (b"\x08" + b"\xff" * 10, 0),  # a varint without end
        (b"\x08\x01\x12\x05abc", 2),  # a length beyond the end
        (b"\x08\x01\x0d\x00", 2),  # four bytes that are not there
    ],
)
def test_damage_is_named_by_its_tag(data: bytes, position: int) -> None:
    """The position is that of the tag at which reading stopped."""
    with pytest.raises(DamagedError) as caught:
        list(fields(io.BytesIO(data)))
    assert caught.value.position == position
