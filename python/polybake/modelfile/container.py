"""The container: one valid ONNX file whose head carries manifest, tokenizer and fixture.

A ``ModelProto`` written as *head* (only field 14, ``metadata_props``) and *tail* (every
other field). docs/format.md holds the reader's algorithm, which every client follows.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from polybake.errors import InputError
from polybake.files.atomic import replacing
from polybake.modelfile.fixture import Fixture
from polybake.modelfile.manifest import Manifest, parse_manifest
from polybake.modelfile.protobuf import METADATA_PROPS, DamagedError, entry, fields, read_entry

MANIFEST = "polybake.manifest"
TOKENIZER = "polybake.tokenizer"
FIXTURE = "polybake.fixture"
DIGESTS = "polybake.digests"

#: Protobuf's own limit for one message.
LARGEST_FILE = 2**31 - 1


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


def tail_digest(path: Path | str, tail_offset: int = 0) -> str:
    """SHA-256 (hex) of everything after the head; of a whole file that is only a tail."""
    with _opened(Path(path)) as file:
        file.seek(tail_offset)
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(
    path: Path, tail: Path, digest: str, manifest: Manifest, tokenizer: str, fixture: Fixture
) -> None:
    """Write head and tail as one file: to a temporary file first, then renamed.

    Args:
        path: The model file.
        tail: A file that holds the tail.
        digest: What ``tail_digest(tail)`` gives; a large tail is hashed once.
        manifest, tokenizer, fixture: What the head holds.

    Raises:
        InputError: the whole would be larger than one ONNX file can be.
    """
    values = {
        MANIFEST: ascii_json(manifest.model_dump(mode="json")),
        TOKENIZER: ascii_json(json.loads(tokenizer)),
        FIXTURE: ascii_json(fixture.model_dump(mode="json")),
    }
    digests = {"tail": digest}
    digests |= {key.removeprefix("polybake."): sha256(value) for key, value in values.items()}
    values[DIGESTS] = ascii_json(digests)
    head = b"".join(entry(key, value) for key, value in values.items())
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


def ascii_json(value: object) -> bytes:
    """JSON in ASCII: some runtimes' metadata readers cut text beyond U+FFFF."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def sha256(data: bytes) -> str:
    """SHA-256 of ``data`` in hex."""
    return hashlib.sha256(data).hexdigest()


def is_baked(path: Path) -> bool:
    """Whether a file begins as a model file does: with the manifest's entry."""
    with _opened(path) as file:
        return MANIFEST.encode("ascii") in file.read(64)


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); give the path of a baked .onnx file"
        ) from error
    with file:
        yield file


def _walk(file: BufferedReader, path: Path) -> tuple[dict[str, bytes], int]:
    """Visit every top-level field; return the polybake values and where the tail begins."""
    values: dict[str, bytes] = {}
    tail_offset: int | None = None
    try:
        for field in fields(file):
            if field.number != METADATA_PROPS:
                tail_offset = field.start if tail_offset is None else tail_offset
                continue
            key, value = read_entry(file, field)
            if not key.startswith("polybake."):
                continue
            if key in values:
                raise InputError(f"{path}: {key} occurs twice; copy the original file again")
            if tail_offset is not None:
                raise InputError(
                    f"{path}: {key} stands after the graph; copy the original file again"
                )
            values[key] = value
    except DamagedError as error:
        raise InputError(
            f"{path}: is not a whole ONNX file (byte {error.position}); copy the file again"
        ) from error
    if tail_offset is None:
        raise InputError(f"{path}: has no graph; give the path of a baked .onnx file")
    return values, tail_offset
