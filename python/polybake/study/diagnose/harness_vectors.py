"""Ask a running service or a foreign client for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from polybake.base.modelfile.container import read_head
from polybake.base.modelfile.fixture import Vectors, decode_vectors
from polybake.errors import CheckFailed
from polybake.verification.harness.handshake import results_of
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import Client, foreign_client
from polybake.verification.harness.protocol import Embed, EncodedVectors, Start, Stop
from polybake.verification.harness.services.service import Service
from polybake.verification.session import Timeouts
from polybake.verification.verdict import HarnessError

#: The texts of a request, as many as libraries send by default.
_BATCH = 32


@dataclass(frozen=True)
class ForeignVectors:
    """The answer of a service or client.

    Attributes:
        vectors: ``[texts, dimension]``.
        fingerprint: The fingerprint of the model file that a service claims to serve, if any.
    """

    vectors: NDArray[np.float32]
    fingerprint: str | None = None


def request_vectors(
    harness: str, model: Path, texts: Sequence[str], prompt: str | None, timeout: float
) -> ForeignVectors:
    """Request the vectors of texts from a command or a service, with a prompt by its name."""
    client, timeouts = foreign_client(harness), Timeouts.of(timeout)
    try:
        return _answers(client, model, texts, prompt, timeouts)
    except HarnessError as error:
        raise CheckFailed(
            f"harness {harness!r}: {error.status}: {error.message}; let it answer first, or give "
            "its vectors in a file by --vectors"
        ) from error


def golden_texts(model: Path) -> list[str]:
    """Return the texts of a file's golden cases, each once."""
    cases = read_head(model).fixture.cases
    return list(dict.fromkeys(one for case in cases for one in case.texts if isinstance(one, str)))


def _answers(
    client: Client, model: Path, texts: Sequence[str], prompt: str | None, timeouts: Timeouts
) -> ForeignVectors:
    harness, fingerprint = _started(client, model.absolute(), timeouts)
    try:
        vectors = []
        for first in range(0, len(texts), _BATCH):
            request = Embed(texts=tuple(texts[first : first + _BATCH]), prompt=prompt)
            vectors.append(_decoded(results_of(harness.ask(request, timeouts.answer))))
        harness.ask(Stop(), timeouts.stop)
    finally:
        harness.kill()
    return ForeignVectors(np.concatenate(vectors), fingerprint)


def _started(
    client: Client, model: Path, timeouts: Timeouts
) -> tuple[Harness | Service, str | None]:
    """Start the harness or service; also return the fingerprint that a service claims, if any."""
    if client.service:
        service = Service(client.language, model)
        return service, service.start(timeouts.load).fingerprint
    harness = Harness(client)
    try:
        results_of(harness.ask(Start(model=str(model), device="cpu"), timeouts.load))
    except HarnessError:
        harness.kill()
        raise
    return harness, None


def _decoded(results: object) -> NDArray[np.float32]:
    try:
        answer = EncodedVectors.model_validate(results)
        vectors = decode_vectors(Vectors.model_validate(dict(answer)))
    except (ValidationError, ValueError) as error:
        raise CheckFailed("harness: the results of embed are not dtype, shape and data") from error
    return np.asarray(vectors, np.float32)
