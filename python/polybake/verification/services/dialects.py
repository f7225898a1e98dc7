"""What services over HTTP are asked, and what they answer: by OpenAI's schema, and by TEI's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError

from polybake.files.validation import first_fault
from polybake.verification.services.address import EMBED, EMBEDDINGS
from polybake.verification.services.vectors import Vectors, stacked


class _Embedding(BaseModel):
    index: int
    embedding: list[float] | str


class _Embeddings(BaseModel):
    data: list[_Embedding]


class _Token(BaseModel):
    id: int


_ROWS = TypeAdapter(list[list[float]])
_TOKENS = TypeAdapter(list[list[_Token]])


@dataclass(frozen=True)
class OpenAI:
    """``/v1/embeddings``.

    Attributes:
        model: What the service calls the model.
    """

    model: str

    def bodies(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """The same twice: as numbers, and as base64, which OpenAI's own libraries ask for."""
        asked = {"model": self.model, "input": [*texts]}
        return [asked | {"encoding_format": encoding} for encoding in ("float", "base64")]

    def vectors(self, answer: object) -> Vectors:
        """``[texts, dimension]``.

        Raises:
            ValueError: not the schema, or not in the order of the texts, on which callers rely.
        """
        try:
            data = _Embeddings.model_validate(answer).data
        except ValidationError as error:
            raise ValueError(first_fault(error)) from error
        for place, one in enumerate(data):
            if one.index != place:
                raise ValueError(f"data[{place}].index is {one.index}, expected {place}")
        return stacked([one.embedding for one in data])

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

    def bodies(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """One request; texts that are too long are cut, as every client does."""
        return [{"inputs": [*texts], "truncate": True, "normalize": self.normalize}]

    def vectors(self, answer: object) -> Vectors:
        """``[texts, dimension]``.

        Raises:
            ValueError: not the schema.
        """
        try:
            return stacked(_ROWS.validate_python(answer))
        except ValidationError as error:
            raise ValueError(first_fault(error)) from error

    def ids_address(self, address: str) -> str | None:
        """Where token ids are asked for."""
        return beside(address, "/tokenize")


def dialect_of(address: str, model: str, *, normalize: bool) -> OpenAI | Inference:
    """How the service at a checked address is asked.

    Args:
        address: A fragment names the model, as in ``…/v1/embeddings#text-embedding-3-small``.
        model: Its name where the address names none.
        normalize: Whether the model's vectors have unit length.
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
    """What ``/tokenize`` answered.

    Raises:
        ValueError: not the schema.
    """
    try:
        rows = _TOKENS.validate_python(answer)
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error
    return [[token.id for token in row] for row in rows]
