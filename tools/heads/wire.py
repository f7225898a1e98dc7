"""Entries that are no protobuf, or none of ours."""

from __future__ import annotations

from collections.abc import Iterator

from heads.case import HeadCase, not_whole
from heads.whole import head, tail, values, whole_file
from polybake.base.modelfile.protobuf import entry, varint


def wire_cases() -> Iterator[HeadCase]:
    """Entries that are no protobuf, or not as the format has them."""
    data = whole_file()
    rest = head({key: value for key, value in values().items() if key != "manifest"}) + tail()
    value = values()["manifest"]
    key = b"\x0a" + varint(len("polybake.manifest")) + b"polybake.manifest"
    content = b"\x12" + varint(len(value)) + value
    for name, why, body in (
        ("value-before-key", "One order, one meaning.", content + key),
        ("key-alone", "An entry has a value.", key),
        ("value-alone", "An entry has a key.", content),
        ("no-content", "An entry has both.", b""),
        ("two-keys", "The last one would win in protobuf.", key + key + content),
        ("two-values", "The last one would win in protobuf.", key + content + content),
        ("more-in-entry", "Nothing stands behind the value.", key + content + b"\x1a\x00"),
        ("key-beyond-entry", "A key ends within its entry.", b"\x0a\x7fpolybake"),
        ("value-beyond-entry", "A value ends within its entry.", key + b"\x12\xff\x7f{}"),
        ("key-of-other-type", "A key is of wire type 2.", b"\x08\x01" + content),
    ):
        yield HeadCase(name, why, b"\x72" + varint(len(body)) + body + rest, not_whole(0))
    for name, why, length in (
        ("length-beyond-file", "A length is compared before memory is taken.", varint(1 << 31)),
        ("length-of-32-gb", "It fits five bytes and no memory.", b"\xff\xff\xff\xff\x7f"),
        ("length-in-six-bytes", "Longer numbers differ between languages.", varint_of(5, 6)),
        ("length-in-ten-bytes", "It would be negative in 64 bits.", b"\xff" * 9 + b"\x01"),
    ):
        yield HeadCase(name, why, b"\x72" + length + data[3:], not_whole(0))
    second = len(entry("polybake.manifest", values()["manifest"]))
    broken = data[: second + 1] + b"\xff" * 6 + data[second + 1 :]
    yield HeadCase("second-length", "The place is that of the entry.", broken, not_whole(second))
    message = "has no polybake.manifest; write the file with: polybake bake"
    for name, tag in (("other-wire-type", b"\x70"), ("field-0", b"\x02"), ("group", b"\x73")):
        yield HeadCase(name, "Reading stops at any other tag.", tag + data[1:], message)


def key_cases() -> Iterator[HeadCase]:
    """Keys that are missing, or occur twice."""
    whole = values()
    for key in ("manifest", "tokenizer", "fixture", "digests"):
        others = {name: value for name, value in whole.items() if name != key}
        message = f"has no polybake.{key}; write the file with: polybake bake"
        yield HeadCase(f"no-{key}", "Each part is needed.", head(others) + tail(), message)
        message = f"polybake.{key} occurs twice; copy the original file again"
        again = entry(f"polybake.{key}", whole[key]) + whole_file()
        yield HeadCase(f"{key}-twice", "Which one counts would differ.", again, message)


def varint_of(value: int, size: int) -> bytes:
    """A varint of so many bytes."""
    parts = [value >> 7 * index & 0x7F | 0x80 for index in range(size)]
    return bytes([*parts[:-1], parts[-1] & 0x7F])
