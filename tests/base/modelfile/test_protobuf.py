"""Protobuf's wire format, as far as a head needs it."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polybake.base.modelfile.protobuf import DamagedError, entry, fields, varint

ASCII = st.text(st.characters(max_codepoint=127), max_size=300)


@given(ASCII, ASCII)
def test_onnx_reads_an_entry(key: str, value: str) -> None:
    """An entry is one that protobuf itself parses."""
    (parsed,) = onnx.ModelProto.FromString(entry(key, value.encode())).metadata_props
    assert (parsed.key, parsed.value) == (key, value)


@given(st.integers(0, 2**35 - 1))
def test_a_varint_is_protobufs(value: int) -> None:
    """A varint is the one that protobuf writes, seven bits a byte."""
    model = onnx.ModelProto(ir_version=value)
    assert model.SerializeToString() == b"\x08" + varint(value)


@pytest.mark.weekly
@given(st.text(max_size=20), st.integers(0, 2**63 - 1), st.lists(st.integers(0, 2**40), max_size=3))
def test_fields_are_those_that_protobuf_writes(text: str, number: int, numbers: list[int]) -> None:
    """Texts, whole numbers, nested messages and numbers of four and eight bytes, in order."""
    opset = onnx.OperatorSetIdProto(domain=text, version=number)
    model = onnx.ModelProto(ir_version=number, opset_import=[opset, opset])
    found = list(fields(model.SerializeToString()))
    nested = opset.SerializeToString()
    assert found == [(1, number), (8, nested), (8, nested)]
    assert list(fields(nested)) == [(1, text.encode()), (2, number)]
    attribute = onnx.AttributeProto(f=0.5, ints=numbers)
    assert list(fields(attribute.SerializeToString())) == [
        (2, b"\0\0\0\x3f"),
        *((8, one) for one in numbers),
    ]
    assert list(fields(b"\x11" + bytes(range(8)))) == [(2, bytes(range(8)))]


@pytest.mark.parametrize(
    ("damaged", "position"),
    [
        (b"\x08", 0),
        (b"\x08\x01\x08" + b"\xff" * 10, 2),
        (b"\x0a\x05abcd", 0),
        (b"\x08\x01\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", 2),
        (b"\x15abc", 0),
        (b"\x11abcdefg", 0),
        (b"\x0b\x0c", 0),
        (b"\x0e", 0),
        (b"\x00\x01", 0),
        (b"\x02\x01a", 0),
        (b"\xff" * 11, 0),
    ],
)
def test_a_damaged_field_is_named_by_its_place(damaged: bytes, position: int) -> None:
    """One that is not whole, of a group, or without a number."""
    with pytest.raises(DamagedError) as caught:
        list(fields(damaged))
    assert caught.value.position == position
