"""The container: one valid ONNX file whose head carries manifest, tokenizer and fixture.

A ``ModelProto`` written as *head* (only field 14, ``metadata_props``) and *tail* (every
other field). docs/format.md holds the reader's algorithm, which every client follows.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from polybake.errors import InputError
from polybake.fixtures.case import Fixture
from polybake.manifest import Manifest, parse_manifest

MANIFEST = "polybake.manifest"
TOKENIZER = "polybake.tokenizer"
FIXTURE = "polybake.fixture"
DIGESTS = "polybake.digests"

#: Protobuf's own limit for one message.
LARGEST_FILE = 2**31 - 1

_METADATA_FIELD = 14
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}


@dataclass(frozen=True)
class Head:
    """What stands before the graph."""

    manifest: Manifest
    tokenizer: str
    fixture: Fixture
    digests: dict[str, str]
    tail_offset: int


def read_head(path: Path | str) -> Head:
    """Read and check the head without loading the graph.

    Raises:
        InputError: not there, not a model file, damaged, or of a newer format.
    """
    path = Path(path)
    with _opened(path) as file:
        values, tail_offset = _walk(file, path)
    missing = [key for key in (MANIFEST, TOKENIZER, FIXTURE, DIGESTS) if key not in values]
    if missing:
        raise InputError(f"{path}: has no {missing[0]}; write the file with: polybake bake")
    try:
        digests: dict[str, str] = json.loads(values[DIGESTS])
        expected = {key: digests[key.removeprefix("polybake.")] for key in values if key != DIGESTS}
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: {DIGESTS} is damaged; copy the file again") from error
    for key, digest in expected.items():
        if sha256(values[key]) != digest:
            raise InputError(f"{path}: {key} does not match its digest; copy the file again")
    return Head(
        manifest=parse_manifest(values[MANIFEST].decode("ascii"), str(path)),
        tokenizer=values[TOKENIZER].decode("ascii"),
        fixture=Fixture.model_validate_json(values[FIXTURE]),
        digests=digests,
        tail_offset=tail_offset,
    )


def tail_digest(path: Path | str, tail_offset: int) -> str:
    """SHA-256 (hex) of everything after the head."""
    with _opened(Path(path)) as file:
        file.seek(tail_offset)
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, tail: Path, manifest: Manifest, tokenizer: str, fixture: Fixture) -> None:
    """Write head and tail as one file: to a temporary file first, then renamed.

    Raises:
        InputError: the whole would be larger than one ONNX file can be.
    """
    values = {
        MANIFEST: ascii_json(manifest.model_dump(mode="json")),
        TOKENIZER: ascii_json(json.loads(tokenizer)),
        FIXTURE: ascii_json(fixture.model_dump(mode="json")),
    }
    with tail.open("rb") as file:
        digests = {"tail": hashlib.file_digest(file, "sha256").hexdigest()}
    digests |= {key.removeprefix("polybake."): sha256(value) for key, value in values.items()}
    values[DIGESTS] = ascii_json(digests)
    head = b"".join(_entry(key, value) for key, value in values.items())
    check_size(len(head) + tail.stat().st_size, path)
    with replacing(path) as out, tail.open("rb") as file:
        out.write(head)
        shutil.copyfileobj(file, out, 1 << 20)


def check_size(size: int, path: Path) -> None:
    """Refuse a file that protobuf could not hold, before a byte of it is written."""
    if size > LARGEST_FILE:
        raise InputError(
            f"{path}: would have {size} bytes, and one ONNX file holds at most {LARGEST_FILE}; "
            "choose a smaller model"
        )


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside ``path`` that takes its place when the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def ascii_json(value: object) -> bytes:
    """JSON in ASCII: some runtimes' metadata readers cut text beyond U+FFFF."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def sha256(data: bytes) -> str:
    """SHA-256 of ``data`` in hex."""
    return hashlib.sha256(data).hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give the path of a baked .onnx file"
        ) from error
    with file:
        yield file


def _walk(file: BinaryIO, path: Path) -> tuple[dict[str, bytes], int]:
    """Visit every top-level field; return the polybake values and where the tail begins."""
    size = os.fstat(file.fileno()).st_size
    values: dict[str, bytes] = {}
    tail_offset: int | None = None
    position = 0
    while position < size:
        start = position
        tag, position = _varint(file, position, path)
        field, wire = tag >> 3, tag & 7
        if field == 0 or wire not in (_VARINT, _FIXED64, _LENGTH, _FIXED32):
            raise _damaged(path, start)
        if wire == _VARINT:
            _, position = _varint(file, position, path)
        elif wire != _LENGTH:
            position += _FIXED_SIZES[wire]
        else:
            length, position = _varint(file, position, path)
            if field == _METADATA_FIELD:
                if position + length > size:
                    raise _damaged(path, start)
                file.seek(position)
                key, value = _parse_entry(file.read(length), path, start)
                if key.startswith("polybake."):
                    if tail_offset is not None:
                        raise InputError(
                            f"{path}: {key} stands after the graph; copy the original file again"
                        )
                    if key in values:
                        raise InputError(f"{path}: {key} occurs twice; copy the original file again")
                    values[key] = value
            position += length
        if position > size:
            raise _damaged(path, start)
        if field != _METADATA_FIELD and tail_offset is None:
            tail_offset = start
    if tail_offset is None:
        raise InputError(f"{path}: has no graph; give the path of a baked .onnx file")
    return values, tail_offset


def _varint(file: BinaryIO, position: int, path: Path) -> tuple[int, int]:
    file.seek(position)
    value = 0
    for index, byte in enumerate(file.read(10)):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise _damaged(path, position)


def _parse_entry(data: bytes, path: Path, start: int) -> tuple[str, bytes]:
    """Split a StringStringEntryProto: field 1 is the key, field 2 the value."""
    import io

    parts = {1: b"", 2: b""}
    stream, position = io.BytesIO(data), 0
    while position < len(data):
        tag, position = _varint(stream, position, path)
        length, position = _varint(stream, position, path)
        if tag & 7 != _LENGTH or position + length > len(data):
            raise _damaged(path, start)
        parts[tag >> 3] = data[position : position + length]
        position += length
    return parts[1].decode("utf-8", "replace"), parts[2]


def _entry(key: str, value: bytes) -> bytes:
    name = key.encode("ascii")
    body = b"\x0a" + varint(len(name)) + name + b"\x12" + varint(len(value)) + value
    return b"\x72" + varint(len(body)) + body


def varint(value: int) -> bytes:
    """A protobuf varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _damaged(path: Path, position: int) -> InputError:
    return InputError(f"{path}: is not a whole ONNX file (byte {position}); copy the file again")


def is_baked(path: Path) -> bool:
    """Whether a file begins as a model file does: with the manifest's entry."""
    with _opened(path) as file:
        return MANIFEST.encode("ascii") in file.read(64)
