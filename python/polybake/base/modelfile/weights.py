"""The file of weights that may lie beside a model file; docs/format.md has its layout."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from polybake.errors import CheckFailed, InputError

#: Bytes before the payload: a whole page, so that ONNX Runtime can map what follows.
HEADING_LENGTH = 4096


class Weights(BaseModel):
    """The key ``weights`` of ``polybake.digests``."""

    model_config = ConfigDict(frozen=True, strict=True)

    file: str = Field(
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*\.weights$",
        max_length=255,
        description="The file's name; it lies in the model file's folder.",
    )
    length: int = Field(ge=HEADING_LENGTH, description="Bytes of the file.")
    sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="Hex, of all that follows the heading."
    )

    @property
    def heading(self) -> bytes:
        """The bytes that the file begins with."""
        return f"polybake weights 1\n{self.sha256}\n".encode("ascii").ljust(HEADING_LENGTH, b"\0")


def weights_name(model: Path) -> str:
    """Return the name of the file of weights of a model file that is to be written.

    Raises:
        InputError: It has other characters than such a name may have.
    """
    name = f"{model.stem}.weights"
    try:
        Weights(file=name, length=HEADING_LENGTH, sha256=64 * "0")
    except ValidationError as error:
        raise InputError(
            f"{model}: its weights would lie in {name!r} beside it; choose an --output of ASCII "
            "letters, digits, '.', '_' and '-'"
        ) from error
    if name == model.name:
        raise InputError(f"{model}: has the name of its weights; choose an --output in .onnx")
    return name


def check_heading(model: Path, weights: Weights) -> None:
    """Check that the file is there, as long as it was, and was baked with the model.

    Raises:
        InputError: It is not.
    """
    path = model.with_name(weights.file)
    with _opened(model, path) as file:
        length, heading = os.fstat(file.fileno()).st_size, file.read(HEADING_LENGTH)
    if length != weights.length:
        raise InputError(
            f"{model}: {path} has {length} bytes, expected {weights.length}; copy it again"
        )
    if heading != weights.heading:
        raise InputError(
            f"{model}: {path} belongs to another model; copy the one that was baked with it"
        )


def check_payload(model: Path, weights: Weights) -> None:
    """Hash the file and compare the digests; a second for 2 GB.

    Raises:
        CheckFailed: The file was changed.
    """
    path = model.with_name(weights.file)
    with _opened(model, path) as file:
        file.seek(HEADING_LENGTH)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != weights.sha256:
        raise CheckFailed(f"{model}: {path} does not match its digest; copy it again")


@contextmanager
def _opened(model: Path, path: Path) -> Iterator[BufferedReader]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise InputError(
            f"{model}: {path} cannot be read ({error.strerror}); it holds the model's weights, "
            "put it beside the model"
        ) from error
    with file:
        yield file
