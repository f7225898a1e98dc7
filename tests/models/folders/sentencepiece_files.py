"""SentencePiece's files, written by its own descriptions of them.

Source: SentencePiece's sentencepiece_model.proto; its ``Normalizer::EncodePrecompiledCharsMap``;
Darts-clone's ``DoubleArrayUnit``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE = 1, 2
SPACE = "\u2581"

#: Replacements as NFKC has them, and one of two characters.
REPLACED = {
    "\uff21": "A",
    "\uff22": "B",
    "\ufb01": "fi",
    "\u2460": "1",
    "\u00a0": " ",
    "\u3000": " ",
    "e\u0301": "\u00e9",
    "\u00ad": "",
}

Piece = tuple[str, float, int]


def varint(value: int) -> bytes:
    """A whole number of protobuf, seven bits a byte."""
    out = bytearray()
    while value > 127:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def field(number: int, value: int | float | bytes) -> bytes:
    """A field of protobuf."""
    if isinstance(value, bytes):
        return varint(number * 8 + 2) + varint(len(value)) + value
    if isinstance(value, float):
        return varint(number * 8 + 5) + struct.pack("<f", value)
    return varint(number * 8) + varint(value)


def piece(text: str | bytes, score: float, kind: int = NORMAL) -> bytes:
    """A field of the model: a piece."""
    content = text if isinstance(text, bytes) else text.encode()
    return field(1, field(1, content) + field(2, float(score)) + field(3, kind))


def model(
    pieces: Iterable[Piece],
    algorithm: int = UNIGRAM,
    characters: bytes = b"",
    unknown: int = 0,
) -> bytes:
    """A whole file."""
    trainer = field(3, algorithm) + field(4, 8000) + field(40, unknown) + field(45, b"<unk>")
    normalizer = field(1, b"nmt_nfkc") + (field(2, characters) if characters else b"")
    listed = b"".join(piece(*one) for one in pieces)
    return listed + field(2, trainer) + field(3, normalizer + field(3, 1))


def characters_map(replaced: Mapping[str, str] = REPLACED) -> bytes:
    """Replacements as SentencePiece compiles them: a double array of bytes, and their texts."""
    texts, values = b"", dict[bytes, int]()
    for found, text in replaced.items():
        values[found.encode()] = len(texts)
        texts += text.encode() + b"\0"
    prefixes = sorted({key[:end] for key in values for end in range(len(key) + 1)})
    # Each prefix has a block of 256 units of its own, in which the next byte is the place.
    base = {prefix: 256 * (number + 1) for number, prefix in enumerate(prefixes)}
    units = [0] * (256 * (len(prefixes) + 1))
    for prefix in prefixes:
        place = base[prefix[:-1]] ^ prefix[-1] if prefix else 0
        offset = place ^ base[prefix]
        assert offset < 2**21
        units[place] = offset << 10 | (prefix in values) << 8 | (prefix[-1] if prefix else 0)
        if prefix in values:
            units[base[prefix]] = 1 << 31 | values[prefix]
    array = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(array)) + array + texts


def write(path: Path, *parts: Any, **settings: Any) -> Path:
    """Write a file of `model`."""
    path.write_bytes(model(*parts, **settings))
    return path
