"""The file of weights that may lie beside a model file; docs/format.md has its layout."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from polybake.errors import CheckFailed, InputError


class Weights(BaseModel):
    """The manifest's ``weights``: a file whose name says what it holds."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    file: str = Field(
        pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*\.weights$",
        max_length=255,
        description="The file's name; it lies in the model file's folder.",
    )
    length: int = Field(ge=0, description="Bytes of the file.")
    sha256: str = Field(
        pattern="^[0-9a-f]{64}$", description="Hex, of the file; its name has the first 16 digits."
    )

    @model_validator(mode="after")
    def _named_by_content(self) -> Weights:
        if not self.file.endswith(weights_name("", self.sha256)):
            raise ValueError(f"file: {self.file!r} is not named by its content")
        return self


def weights_name(stem: str, digest: str = 64 * "0") -> str:
    """Return the name of a file of weights: its model's, and 16 digits of its SHA-256.

    ONNX Runtime then finds no weights of another model, nor those of an earlier bake.
    """
    return f"{stem}-{digest[:16]}.weights"


def check_weights_name(model: Path) -> None:
    """Check that a model file that is to be written gives its weights a name for every system."""
    name = weights_name(model.stem)
    try:
        Weights(file=name, length=0, sha256=64 * "0")
    except ValidationError as error:
        raise InputError(
            f"{model}: its weights would lie in {name!r} beside it; choose an --output of ASCII "
            "letters, digits, '.', '_' and '-'"
        ) from error


def check_length(model: Path, weights: Weights) -> None:
    """Check that the file is there, and whole."""
    path = model.with_name(weights.file)
    with _opened(model, path) as file:
        length = file.seek(0, os.SEEK_END)
    if length != weights.length:
        raise InputError(
            f"{model}: {path} has {length} bytes, expected {weights.length}; copy it again"
        )


def check_payload(model: Path, weights: Weights) -> None:
    """Hash the file and compare the digests; a second for 2 GB."""
    path = model.with_name(weights.file)
    with _opened(model, path) as file:
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
