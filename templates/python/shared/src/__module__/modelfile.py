"""Read the head of a model file, which stands before the graph."""

import hashlib
import io
import json
import os
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, BinaryIO, NamedTuple

from .contract import CONTRACT
from .errors import ModelError

_KEYS = ("polybake.manifest", "polybake.tokenizer", "polybake.fixture", "polybake.digests")

#: Protobuf tags: ``metadata_props`` of a ModelProto, key and value of one of its entries.
_ENTRY, _KEY, _VALUE = b"\x72", b"\x0a", b"\x12"

_NOTHING = object()


class Head(NamedTuple):
    """The parts of the head, and where the tail begins, which holds the graph, and its digest."""

    path: str
    manifest: dict[str, Any]
    tokenizer: bytes
    fixture: bytes
    tail_digest: str
    tail_offset: int


def read_head(path: str) -> Head:
    """Read and check the head; the graph is left alone.

    Raises:
        ModelError: not a model file, damaged, of a newer format, or with another contract.
    """
    with _opened(path) as file:
        values, offset = _read_values(file, path)
        length = os.fstat(file.fileno()).st_size - offset
    for key in _KEYS:
        if key not in values:
            raise ModelError(f"{path}: has no {key}; write the file with: polybake bake")
    *parts, digests = (values[key] for key in _KEYS)
    types = {"tail": str, "tail_length": int, "manifest": str, "tokenizer": str, "fixture": str}
    try:
        expected = json_object(digests, **types)
        if expected["tail_length"] < 1:
            raise ValueError("no tail")
    except ValueError as error:
        raise ModelError(f"{path}: polybake.digests is damaged; copy the file again") from error
    if length != expected["tail_length"]:
        found = f"has {length} bytes after its head, expected {expected['tail_length']}"
        raise ModelError(f"{path}: {found}; copy the file again")
    for key, part in zip(_KEYS, parts, strict=False):
        if hashlib.sha256(part).hexdigest() != expected[key.removeprefix("polybake.")]:
            raise ModelError(f"{path}: {key} does not match its digest; copy the file again")
    manifest, tokenizer, fixture = parts
    return Head(path, _manifest(manifest, path), tokenizer, fixture, expected["tail"], offset)


def check_tail(head: Head) -> None:
    """Hash the graph and compare; about a second for 2 GB.

    Raises:
        ModelError: the digest differs.
    """
    with _opened(head.path) as file:
        file.seek(head.tail_offset)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != head.tail_digest:
        raise ModelError(f"{head.path}: the graph does not match its digest; copy the file again")


def json_object(value: bytes, **types: type) -> dict[str, Any]:
    """A JSON object in ASCII with fields of just these types: true is no int.

    Raises:
        ValueError: the value is no such object.
    """
    try:
        data = json.loads(value.decode("ascii"), parse_constant=int)  # NaN is no JSON, and no int
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if isinstance(data, dict) and all(type(data.get(name)) is types[name] for name in types):
        return data
    raise ValueError("no such object")


def _opened(path: str) -> io.BufferedReader:
    try:
        return open(path, "rb")
    except (OSError, ValueError) as error:  # ValueError: no system takes such a path
        reason = error.strerror if isinstance(error, OSError) else error
        remedy = "give the path of a baked .onnx file"
        raise ModelError(f"{path}: cannot be read ({reason}); {remedy}") from error


def _read_values(file: BinaryIO, path: str) -> tuple[dict[str, bytes], int]:
    """The values of our keys, and where the tail begins."""
    size, values = os.fstat(file.fileno()).st_size, dict[str, bytes]()
    while True:
        start = file.tell()
        try:
            entry = _read_field(file, size, _ENTRY)
            if entry is None:
                return values, start
            inner = io.BytesIO(entry)
            key, value = (_read_field(inner, len(entry), tag) for tag in (_KEY, _VALUE))
            if key is None or value is None or inner.read(1):
                raise EOFError
        except EOFError as error:
            fault = f"is not a whole ONNX file (byte {start})"
            raise ModelError(f"{path}: {fault}; copy the file again") from error
        name = key.decode("utf-8", "replace")
        if name in values:
            raise ModelError(f"{path}: {name} occurs twice; copy the original file again")
        if name in _KEYS:
            values[name] = value


def _read_field(file: BinaryIO, size: int, tag: bytes) -> bytes | None:
    """The content of the field that begins here; None where another one does, or none.

    Raises:
        EOFError: the field is not whole.
    """
    if file.read(1) != tag:
        return None
    length = 0
    for shift in range(0, 35, 7):  # a varint of at most five bytes
        (byte,) = file.read(1) or b"\xff"
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    if byte >= 0x80 or length > size - file.tell():
        raise EOFError
    return file.read(length)


def _manifest(value: bytes, path: str) -> dict[str, Any]:
    """The manifest, whose contract is this client's."""
    try:
        manifest = json_object(value, format=int)
        if manifest["format"] > 1:
            writer = manifest.get("generator") or "an unknown version"
            newer = f"manifest format {manifest['format']} is newer than 1"
            raise ModelError(f"{path}: {newer}; use polybake {writer}, which wrote it")
        manifest = json_object(value, format=int, name=str, fingerprint=str, contract=dict)
        if manifest["format"] < 1:
            raise ValueError("no format")
    except ValueError as error:
        raise ModelError(f"{path}: polybake.manifest is damaged; bake the model again") from error
    for field, expected, found in _differences(CONTRACT, manifest["contract"]):
        differs = f"contract field {field}: expected {expected}, found {found}"
        raise ModelError(f"{path}: {differs}; regenerate the client with: polybake generate")
    return manifest


def _differences(expected: Any, found: Any, field: str = "") -> Iterator[tuple[str, str, str]]:
    """The fields that differ, in the contract's order, with both values."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            name = f"{field}.{key}" if field else key
            yield from _differences(expected.get(key, _NOTHING), found.get(key, _NOTHING), name)
    elif isinstance(expected, list) and isinstance(found, list):
        for index, pair in enumerate(zip_longest(expected, found, fillvalue=_NOTHING)):
            yield from _differences(*pair, f"{field}[{index}]")
    elif _json(expected) != _json(found):
        yield field, _json(expected), _json(found)


def _json(value: Any) -> str:
    if value is _NOTHING:
        return "nothing"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
