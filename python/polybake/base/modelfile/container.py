"""The container: one valid ONNX file whose head carries manifest, tokenizer and fixture.

A ``ModelProto`` written as *head* (only field 14, ``metadata_props``) and *tail* (every
other field). docs/format.md says how it is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from polybake.base.files.atomic import replacing
from polybake.base.modelfile.fixture import Fixture
from polybake.base.modelfile.manifest import Manifest, parse_manifest
from polybake.base.modelfile.protobuf import entry
from polybake.base.modelfile.size_limit import check_size
from polybake.base.modelfile.weights import Weights, check_length, check_payload
from polybake.errors import CheckFailed, InputError

DIGEST = "polybake.digest"
CONTRACT = "polybake.contract"
MANIFEST = "polybake.manifest"
TOKENIZER = "polybake.tokenizer"
FIXTURE = "polybake.fixture"

#: Bytes of the value of ``polybake.digest``: what it is of begins at one offset in all files.
DIGEST_LENGTH = 256
_BEGUN = entry(DIGEST, bytes(DIGEST_LENGTH))[:-DIGEST_LENGTH]
_BEGIN = len(_BEGUN) + DIGEST_LENGTH

_Place = tuple[NonNegativeInt, NonNegativeInt]


class Digest(BaseModel):
    """The value of ``polybake.digest``, the first entry.

    Attributes:
        sha256: SHA-256 (hex) of all that follows the entry.
        length: Bytes of that.
        contract, manifest, tokenizer, fixture: Where the entry's value begins in the file, and how
            many bytes it has.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str
    length: int
    contract: _Place
    manifest: _Place
    tokenizer: _Place
    fixture: _Place


@dataclass(frozen=True)
class FileHead:
    """All that precedes the graph."""

    path: Path
    digest: Digest
    manifest: Manifest
    tokenizer: str
    fixture_json: bytes

    @property
    def tail_offset(self) -> int:
        """The byte at which the graph begins: the fixture is the last entry of the head."""
        return sum(self.digest.fixture)

    @property
    def weights_path(self) -> Path | None:
        """The file of weights; None where the graph holds them."""
        weights = self.manifest.weights
        return None if weights is None else self.path.with_name(weights.file)

    @property
    def size(self) -> int:
        """Bytes of the file, and of its weights where they lie beside it."""
        weights = self.manifest.weights
        return _BEGIN + self.digest.length + (0 if weights is None else weights.length)

    @cached_property
    def graph_digest(self) -> str:
        """SHA-256 (hex) of the graph; a second for 2 GB."""
        return tail_digest(self.path, self.tail_offset)

    @property
    def tokenizer_digest(self) -> str:
        """SHA-256 (hex) of the tokenizer."""
        return sha256(self.tokenizer.encode("ascii"))

    @cached_property
    def fixture(self) -> Fixture:
        """The golden cases."""
        try:
            return Fixture.model_validate_json(self.fixture_json)
        except ValidationError as error:
            raise _damaged(self.path, FIXTURE) from error


def read_head(path: Path | str) -> FileHead:
    """Read the head without loading the graph; `check_digest` says whether the file is the same.

    Raises:
        InputError: not there, not a model file, cut, of another format, or without its weights.
    """
    path = Path(path)
    with _opened(path) as file:
        begun, size = file.read(_BEGIN), os.fstat(file.fileno()).st_size
        if not _is_baked(begun):
            raise InputError(f"{path}: has no {DIGEST}; write the file with: polybake bake")
        try:
            digest = Digest.model_validate_json(begun[-DIGEST_LENGTH:])
        except ValidationError as error:
            raise InputError(f"{path}: {DIGEST} is damaged; copy the file again") from error
        if size != _BEGIN + digest.length:
            raise InputError(
                f"{path}: has {size} bytes, expected {_BEGIN + digest.length}; copy the file again"
            )
        values = {}
        for key, (begin, length) in (
            (MANIFEST, digest.manifest),
            (TOKENIZER, digest.tokenizer),
            (FIXTURE, digest.fixture),
        ):
            file.seek(min(begin, size))
            values[key] = file.read(min(length, size))
            if len(values[key]) != length or not values[key].isascii():
                raise _damaged(path, key)
    manifest = parse_manifest(values[MANIFEST].decode("ascii"), str(path))
    if manifest.weights is not None:
        check_length(path, manifest.weights)
    return FileHead(path, digest, manifest, values[TOKENIZER].decode("ascii"), values[FIXTURE])


def check_digest(head: FileHead) -> None:
    """Hash the file, and its weights where they lie beside it; a second for 2 GB."""
    if tail_digest(head.path, _BEGIN) != head.digest.sha256:
        raise CheckFailed(f"{head.path}: does not match its digest; copy the file again")
    if head.manifest.weights is not None:
        check_payload(head.path, head.manifest.weights)


def tail_digest(path: Path | str, tail_offset: int = 0) -> str:
    """SHA-256 (hex) of everything from an offset on."""
    with _opened(Path(path)) as file:
        file.seek(tail_offset)
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, tail: Path, manifest: Manifest, tokenizer: str, fixture: Fixture) -> None:
    """Write head and tail as one file: to a temporary file first, then renamed.

    Weights beside it are put in place first. Their name says what they hold, so that the end of the
    process leaves no model with the weights of another.
    """
    head = {
        CONTRACT: manifest.contract.digest.encode("ascii"),
        MANIFEST: ascii_json(manifest.model_dump(mode="json")),
        TOKENIZER: ascii_json(json.loads(tokenizer)),
        FIXTURE: ascii_json(fixture.model_dump(mode="json")),
    }
    entries = [(key, value, entry(key, value)) for key, value in head.items()]
    length = sum(len(whole) for _, _, whole in entries) + tail.stat().st_size
    check_size(_BEGIN + length, path)
    with _placed(manifest.weights, tail, path), replacing(path) as out:
        out.write(bytes(_BEGIN))  # the digest is known in the end
        digest, places = hashlib.sha256(), {}
        for key, value, whole in entries:
            out.write(whole)
            digest.update(whole)
            places[key.removeprefix("polybake.")] = [out.tell() - len(value), len(value)]
        with tail.open("rb") as file:
            while block := file.read(1 << 20):
                out.write(block)
                digest.update(block)
        out.seek(0)
        record = ascii_json({"sha256": digest.hexdigest(), "length": length, **places})
        out.write(entry(DIGEST, record.ljust(DIGEST_LENGTH)))


@contextmanager
def _placed(weights: Weights | None, tail: Path, path: Path) -> Iterator[None]:
    """Put the weights that lie beside a tail beside the model file, unless that then fails."""
    if weights is None:
        yield
        return
    target = path.with_name(weights.file)
    known = target.exists()
    with replacing(target) as out, tail.with_name(weights.file).open("rb") as file:
        shutil.copyfileobj(file, out, 1 << 20)
    try:
        yield
    except BaseException:
        if not known:
            target.unlink(missing_ok=True)
        raise


def ascii_json(value: object) -> bytes:
    """JSON in ASCII: some runtimes' metadata readers cut text beyond U+FFFF."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def sha256(data: bytes) -> str:
    """SHA-256 of ``data`` in hex."""
    return hashlib.sha256(data).hexdigest()


def is_baked(path: Path) -> bool:
    """Whether a file begins as a model file does: with the digest's entry."""
    with _opened(path) as file:
        return _is_baked(file.read(_BEGIN))


def _is_baked(begun: bytes) -> bool:
    return len(begun) == _BEGIN and begun.startswith(_BEGUN)


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


def _damaged(path: Path, key: str) -> InputError:
    """Return the error for a value that cannot be read."""
    return InputError(f"{path}: {key} is damaged; copy the file again, or bake the model again")
