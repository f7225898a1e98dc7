"""The requests and answers of services over HTTP, in OpenAI's and in TEI's schema."""

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter, ValidationError

from polybake.base.files.validation import first_fault
from polybake.base.modelfile.tolerance import TOLERANCES, compare_vectors
from polybake.verification.harness.services.address import EMBED, EMBEDDINGS

Vectors = NDArray[np.float32]


def stacked(rows: Sequence[list[float] | str]) -> Vectors:
    """Rows of numbers, or of base64 of little-endian float32: ``[rows, elements]``."""
    vectors = [_decoded(row) if isinstance(row, str) else np.array(row, np.float64) for row in rows]
    lengths = sorted({len(row) for row in vectors})
    if len(lengths) > 1:
        raise ValueError(f"vectors of {', '.join(map(str, lengths))} elements in one answer")
    with np.errstate(over="ignore"):
        return np.array(vectors, np.float32).reshape(len(vectors), lengths[0] if lengths else 0)


def agreed(found: Sequence[Vectors]) -> Vectors:
    """Return the first of several encodings of the same vectors, and check that they agree."""
    first, *others = found
    for other in others:
        if other.shape != first.shape:
            raise ValueError(f"as base64 of shape {[*other.shape]}, not {[*first.shape]}")
        difference = compare_vectors(first, other, TOLERANCES["cpu"])
        if difference:
            raise ValueError(f"as base64 other vectors than as numbers: {difference.message}")
    return first


def joined(parts: Sequence[Vectors]) -> Vectors:
    """Concatenate the vectors of several answers."""
    lengths = sorted({part.shape[1] for part in parts})
    if len(lengths) > 1:
        raise ValueError(f"vectors of {', '.join(map(str, lengths))} elements for one list")
    return np.concatenate(parts)


def encoded(vectors: Vectors, dtype: str) -> dict[str, Any]:
    """Return the results of ``embed``; integers in the range of the model's dtype get that dtype.

    JSON has no integers of eight bits.
    """
    with np.errstate(invalid="ignore"):
        typed = vectors.astype(dtype)
    array = typed if np.array_equal(typed, vectors) else vectors
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": [*array.shape], "data": data}


def _decoded(text: str) -> NDArray[Any]:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f4")
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not base64 of float32: {error}") from error


class _Embedding(BaseModel):
    index: int
    embedding: list[float] | str


class _Embeddings(BaseModel):
    data: list[_Embedding]


class _Token(BaseModel):
    id: int


_ROWS = TypeAdapter(list[list[float]])
_TOKENS = TypeAdapter(list[list[_Token]])


@dataclass
class OpenAI:
    """``/v1/embeddings``.

    Attributes:
        model: The service's name for the model.
        reordered: Whether an answer was in another order than the texts.
    """

    model: str
    reordered: bool = False

    #: The most texts of a request. Source: OpenAI's API reference, "Create embeddings", ``input``.
    most: ClassVar[int] = 2_048

    def bodies(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Return the request for numbers and for base64, which OpenAI's own libraries ask for."""
        body = {"model": self.model, "input": [*texts]}
        return [body | {"encoding_format": encoding} for encoding in ("float", "base64")]

    def vectors(self, answer: object) -> Vectors:
        """Return ``[texts, dimension]``, ordered by ``index``, as OpenAI promises no order."""
        try:
            data = _Embeddings.model_validate(answer).data
        except ValidationError as error:
            raise ValueError(first_fault(error)) from error
        ordered = sorted(data, key=lambda entry: entry.index)
        for index, entry in enumerate(ordered):
            if entry.index != index:
                wrong = f"index {entry.index} twice" if entry.index < index else f"no index {index}"
                raise ValueError(
                    f"the service's data has {wrong}, expected 0 to {len(data) - 1}, each once"
                )
        self.reordered |= ordered != data
        return stacked([entry.embedding for entry in ordered])

    def ids_address(self, address: str) -> str | None:  # noqa: ARG002 - as the other's
        """None: the schema has no token ids."""
        return None


@dataclass(frozen=True)
class Inference:
    """``/embed`` of text-embeddings-inference, with its ``/tokenize`` and ``/info``.

    Attributes:
        normalize: Whether the model's vectors have unit length, which such a service does itself.
    """

    normalize: bool
    reordered: ClassVar[bool] = False

    #: The most texts of a request. Source: text-embeddings-inference, ``--max-client-batch-size``.
    most: ClassVar[int] = 32

    def bodies(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Return one request; texts that are too long are cut, like in every client."""
        return [{"inputs": [*texts], "truncate": True, "normalize": self.normalize}]

    def vectors(self, answer: object) -> Vectors:
        """``[texts, dimension]``."""
        try:
            return stacked(_ROWS.validate_python(answer))
        except ValidationError as error:
            raise ValueError(first_fault(error)) from error

    def ids_address(self, address: str) -> str | None:
        """Return the address for token ids."""
        return beside(address, "/tokenize")


def dialect_of(address: str, model: str, *, normalize: bool) -> OpenAI | Inference:
    """Return the schema of the service at a checked address, whose fragment may name the model.

    An example is ``…/v1/embeddings#text-embedding-3-small``.
    """
    parts = urlsplit(address)
    if parts.path.endswith(EMBEDDINGS):
        return OpenAI(parts.fragment or model)
    return Inference(normalize)


def beside(address: str, route: str) -> str:
    """The address of another route of the same service."""
    parts = urlsplit(address)
    return parts._replace(path=parts.path.removesuffix(EMBED) + route, fragment="").geturl()


def token_ids(answer: object) -> list[list[int]]:
    """Return the token ids in an answer of ``/tokenize``."""
    try:
        rows = _TOKENS.validate_python(answer)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error
    return [[token.id for token in row] for row in rows]
