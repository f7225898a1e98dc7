"""Protobuf's wire format, as far as a head needs it."""

from __future__ import annotations

import io

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.base.modelfile.protobuf import DamagedError, entries, entry, varint


@given(st.text(st.characters(max_codepoint=127), max_size=200), st.binary(max_size=300))
def test_onnx_reads_an_entry(key: str, value: bytes) -> None:
    """An entry is one that protobuf itself parses, and reads back."""
    if value.isascii():
        (parsed,) = onnx.ModelProto.FromString(entry(key, value)).metadata_props
        assert (parsed.key, parsed.value) == (key, value.decode())
    assert list(entries(io.BytesIO(entry(key, value)))) == [(key, value)]


def test_reading_stops_behind_the_entries() -> None:
    """The file then stands at the first byte of another field."""
    head = entry("a", b"1") + entry("b", b"2")
    file = io.BytesIO(head + b"\x08\x0a" + entry("c", b"3"))
    assert [key for key, _ in entries(file)] == ["a", "b"]
    assert file.tell() == len(head)


@given(st.integers(0, 2**35 - 1))
def test_a_varint_is_protobufs(value: int) -> None:
    """A varint is the one that protobuf writes, seven bits a byte."""
    model = onnx.ModelProto(ir_version=value)
    assert model.SerializeToString() == b"\x08" + varint(value)


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x72",  # no length
        b"\x72\x85",  # a length without end
        b"\x72\x85\x80\x80\x80\x80\x00",  # a length of six bytes
        b"\x72\x05\x0a\x01",  # an entry beyond the end
        b"\x72\xff\xff\xff\xff\x7f",  # 32 GB beyond the end
        b"\x72\x02\x0a\x00",  # no value
        b"\x72\x04\x12\x00\x0a\x00",  # the value before the key
        b"\x72\x05\x0a\x09x\x12\x00",  # a key that is longer than its entry
        b"\x72\x06\x0a\x00\x12\x00\x12\x00",  # two values
    ],
)
def test_damage_is_named_by_the_entry(damaged: bytes) -> None:
    """The position is that of the entry's tag, wherever within it the damage lies."""
    before = entry("a", b"1")
    with pytest.raises(DamagedError) as caught:
        list(entries(io.BytesIO(before + damaged)))
    assert caught.value.position == len(before)
