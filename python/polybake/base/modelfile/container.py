"""The container: one valid ONNX file whose head carries manifest, tokenizer and fixture.

A ``ModelProto`` written as *head* (only field 14, ``metadata_props``) and *tail* (every
other field). docs/format.md holds the reader's algorithm, which every client follows.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polybake.base.files.atomic import replacing, restoring
from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import Manifest, parse_manifest
from polybake.base.modelfile.protobuf import DamagedError, entries, entry
from polybake.base.modelfile.weights import Weights, check_heading, check_payload
from polybake.errors import CheckFailed, InputError

DIGEST = "polybake.digest"
CONTRACT = "polybake.contract"
MANIFEST = "polybake.manifest"
TOKENIZER = "polybake.tokenizer"
FIXTURE = "polybake.fixture"
DIGESTS = "polybake.digests"

_KEYS = (MANIFEST, TOKENIZER, FIXTURE, DIGESTS)

#: Bytes of the value of ``polybake.digest``: what it is of begins at one offset in all files.
DIGEST_LENGTH = 256

#: Protobuf's own limit for one message.
LARGEST_FILE = 2**31 - 1


@dataclass(frozen=True)
class FileHead:
    """All that precedes the graph.

    Attributes:
        digests: SHA-256 (hex) of ``manifest``, ``tokenizer``, ``fixture`` and ``tail``, and what is
            known of the weights where they lie beside the file.
        tail_offset: The byte at which the graph begins.
    """

    path: Path
    manifest: Manifest
    tokenizer: str
    fixture_json: bytes
    digests: Digests
    tail_offset: int

    @property
    def weights_path(self) -> Path | None:
        """The file of weights; None where the graph holds them."""
        weights = self.digests.weights
        return None if weights is None else self.path.with_name(weights.file)

    @property
    def size(self) -> int:
        """Bytes of the file, and of its weights where they lie beside it."""
        beside = 0 if self.digests.weights is None else self.digests.weights.length
        return self.tail_offset + self.digests.tail_length + beside

    @cached_property
    def fixture(self) -> Fixture:
        """The golden cases.

        Raises:
            InputError: They do not form a fixture of this format.
        """
        try:
            return Fixture.model_validate_json(self.fixture_json)
        except ValidationError as error:
            raise _damaged(self.path, FIXTURE) from error


class Digests(BaseModel):
    """The value of ``polybake.digests``."""

    model_config = ConfigDict(frozen=True, strict=True)

    tail: str
    tail_length: int = Field(gt=0, description="Bytes from the head's end to the file's.")
    manifest: str
    tokenizer: str
    fixture: str
    weights: Weights | None = None


def read_head(path: Path | str) -> FileHead:
    """Read and check the head without loading the graph.

    Raises:
        InputError: not there, not a model file, damaged, of a newer format, or without its weights.
    """
    path = Path(path)
    with _opened(path) as file:
        values, tail_offset = _read_values(file, path)
        tail_length = file.seek(0, os.SEEK_END) - tail_offset
    for key in _KEYS:
        if key not in values:
            raise InputError(f"{path}: has no {key}; write the file with: polybake bake")
    try:
        digests = Digests.model_validate_json(values[DIGESTS])
    except ValidationError as error:
        raise _damaged_digests(path) from error
    if tail_length != digests.tail_length:
        raise InputError(
            f"{path}: has {tail_length} bytes after its head, expected {digests.tail_length}; "
            "copy the file again"
        )
    for key in (MANIFEST, TOKENIZER, FIXTURE):
        if sha256(values[key]) != getattr(digests, key.removeprefix("polybake.")):
            raise InputError(f"{path}: {key} does not match its digest; copy the file again")
        if not values[key].isascii():
            raise _damaged(path, key)
    manifest = parse_manifest(values[MANIFEST].decode("ascii"), str(path))
    if (digests.weights is None) is manifest.weights_beside:
        raise _damaged_digests(path)
    if digests.weights is not None:
        check_heading(path, digests.weights)
    return FileHead(
        path=path,
        manifest=manifest,
        tokenizer=values[TOKENIZER].decode("ascii"),
        fixture_json=values[FIXTURE],
        digests=digests,
        tail_offset=tail_offset,
    )


def check_tail(head: FileHead) -> None:
    """Hash the graph, and the weights where they lie beside it; compare the digests.

    Raises:
        CheckFailed: The graph or its weights were changed.
    """
    if tail_digest(head.path, head.tail_offset) != head.digests.tail:
        raise CheckFailed(f"{head.path}: the graph does not match its digest; copy the file again")
    if head.digests.weights is not None:
        check_payload(head.path, head.digests.weights)


def tail_digest(path: Path | str, tail_offset: int = 0) -> str:
    """SHA-256 (hex) of everything after the head; of a whole file that is only a tail."""
    with _opened(Path(path)) as file:
        file.seek(tail_offset)
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(
    path: Path,
    tail: Path,
    digest: str,
    manifest: Manifest,
    tokenizer: str,
    fixture: Fixture,
    weights: Weights | None = None,
) -> None:
    """Write head and tail as one file: to a temporary file first, then renamed.

    Weights beside it are put in place first. Where a process is killed in between, a reader finds
    that the two do not belong together; an error leaves what was there before.

    Args:
        path: The model file.
        tail: A file that holds the tail.
        digest: The result of ``tail_digest(tail)``, which the fingerprint is made of as well.
        manifest, tokenizer, fixture: The content of the head.
        weights: The file of weights beside the tail, which goes beside ``path`` before that is
            there; None where the tail holds them.

    Raises:
        InputError: The file would be larger than one ONNX file can be.
    """
    values = {
        CONTRACT: manifest.contract.digest.encode("ascii"),
        MANIFEST: ascii_json(manifest.model_dump(mode="json")),
        TOKENIZER: ascii_json(json.loads(tokenizer)),
        FIXTURE: ascii_json(fixture.model_dump(mode="json")),
    }
    digests = Digests(
        tail=digest,
        tail_length=tail.stat().st_size,
        weights=weights,
        **{
            key.removeprefix("polybake."): sha256(values[key])
            for key in (MANIFEST, TOKENIZER, FIXTURE)
        },
    )
    values[DIGESTS] = ascii_json(digests.model_dump(exclude_none=True))
    digest_entry = _digest_entry(values, tail)
    head = b"".join([digest_entry, *(entry(key, value) for key, value in values.items())])
    check_size(len(head) + tail.stat().st_size, path)
    with ExitStack() as both:
        if weights is not None:
            both.enter_context(restoring(path.with_name(weights.file)))
        out = both.enter_context(replacing(path))
        out.write(head)
        _copy(tail, out)
        if weights is not None:
            with replacing(path.with_name(weights.file)) as beside:
                _copy(tail.with_name(weights.file), beside)


def _digest_entry(values: dict[str, bytes], tail: Path) -> bytes:
    """Return the first entry: SHA-256 of all that follows it, and where the other values lie.

    The value has one length in all files, so that what it is of begins at one offset.
    """
    place = len(entry(DIGEST, bytes(DIGEST_LENGTH)))
    digest, places = hashlib.sha256(), {}
    for key, value in values.items():
        whole = entry(key, value)
        digest.update(whole)
        if key != DIGESTS:
            places[key.removeprefix("polybake.")] = [place + len(whole) - len(value), len(value)]
        place += len(whole)
    with tail.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    found = ascii_json({"sha256": digest.hexdigest(), **places})
    return entry(DIGEST, found.ljust(DIGEST_LENGTH))


def _copy(source: Path, out: BinaryIO) -> None:
    with source.open("rb") as file:
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
    """Whether a file begins as a model file does: with the digest's entry."""
    with _opened(path) as file:
        return DIGEST.encode("ascii") in file.read(64)


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


def _read_values(file: BufferedReader, path: Path) -> tuple[dict[str, bytes], int]:
    """Return the values of the head by key, and the byte at which the tail begins."""
    values: dict[str, bytes] = {}
    try:
        for key, value in entries(file):
            if key in values:
                raise InputError(f"{path}: {key} occurs twice; copy the original file again")
            if key in _KEYS:
                values[key] = value
    except DamagedError as error:
        raise InputError(
            f"{path}: is not a whole ONNX file (byte {error.position}); copy the file again"
        ) from error
    return values, file.tell()


def _damaged_digests(path: Path) -> InputError:
    return InputError(f"{path}: {DIGESTS} is damaged; copy the file again")


def _damaged(path: Path, key: str) -> InputError:
    """Return the error for a damaged value; its digest holds, so it was written like this."""
    return InputError(f"{path}: {key} is damaged; bake the model again")
