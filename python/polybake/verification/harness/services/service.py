"""A service over HTTP in the place of a harness, judged by the same golden cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from polybake.base.modelfile.container import read_head
from polybake.verification.harness.protocol import (
    Answer,
    ClientVersions,
    Embed,
    Request,
    Results,
    Skipped,
    Stop,
    Tokenize,
)
from polybake.verification.harness.services.address import headers_for
from polybake.verification.harness.services.dialects import (
    Inference,
    agreed,
    beside,
    dialect_of,
    encoded,
    joined,
    token_ids,
)
from polybake.verification.harness.services.exchange import Reply, exchange
from polybake.verification.verdict import HarnessError, Status

#: The header in which ``polybake serve`` names its file.
_FINGERPRINT = "X-Polybake-Fingerprint"

_NO_SUCH_ROUTE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)


@dataclass(frozen=True)
class Served:
    """What a service says about itself. The provider that runs its model is unknown.

    Attributes:
        client: Its version, if there is a route for it.
        fingerprint: The model file's fingerprint, from ``polybake serve``.
    """

    client: ClientVersions | None
    fingerprint: str | None
    provider: None = None
    capabilities: tuple[str, ...] = ("embed",)


class Service:
    """Sends a harness's requests to a service, as far as it supports them."""

    def __init__(self, address: str, model: Path) -> None:
        """Read the model file's contract; nothing is sent yet."""
        manifest = read_head(model).manifest
        self._address = address
        self._headers = headers_for([self._address])
        self._contract = manifest.contract
        #: Whether the service knows prompts by name: then texts are sent without their prompt.
        self._baked = False
        self._dialect = dialect_of(
            self._address, manifest.name, normalize=manifest.steps[-1:] == ("normalize()",)
        )

    def start(self, seconds: float) -> Served:
        """Ask for one vector, and for the version if there is a route for it."""
        body = self._dialect.bodies(["polybake"])[0]
        reply = self._exchange(self._address, body, seconds)
        if reply.refusal:
            raise HarnessError(Status.ERROR, reply.refusal)
        fingerprint = reply.headers.get(_FINGERPRINT)
        self._baked = fingerprint is not None
        is_tei = isinstance(self._dialect, Inference)
        return Served(self._versions(seconds) if is_tei else None, fingerprint and fingerprint[:64])

    def ask(self, request: Request, seconds: float) -> Answer:
        """Answer a request like a harness."""
        try:
            if isinstance(request, Embed):
                texts = cast(Sequence[str], request.texts)
                return Results(seq=0, results=self._embed(texts, request.prompt, seconds))
            if isinstance(request, Tokenize):
                return self._tokenize(cast(Sequence[str], request.texts), request.prompt, seconds)
        except ValueError as error:
            raise HarnessError(Status.ERROR, str(error)) from error
        if isinstance(request, Stop):
            return Results(seq=0, results=None)
        return _skipped("a service over HTTP is asked for vectors of texts alone")

    @property
    def reordered(self) -> bool:
        """Whether vectors came in another order than the texts, with their places."""
        return self._dialect.reordered

    def finish(self, seconds: float) -> None:
        """Do nothing, as no process runs."""

    def kill(self) -> None:
        """Do nothing, as no process runs."""

    def _exchange(self, address: str, body: object, seconds: float) -> Reply:
        return exchange(address, body, self._headers, seconds)

    def _versions(self, seconds: float) -> ClientVersions | None:
        try:
            answer = self._exchange(beside(self._address, "/info"), None, seconds).json()
            version = str(answer["version"])[:40]
        except (ValueError, TypeError, KeyError):
            return None
        return ClientVersions(
            language="http",
            language_version=version,
            runtime_version="unknown",
            tokenizer_version="unknown",
        )

    def _prompted(self, texts: Sequence[str], prompt: str | None) -> list[str]:
        name = self._contract.default_prompt if prompt is None else prompt
        if name is None or self._baked:
            return [*texts]
        if name not in self._contract.prompts:
            raise ValueError(f"the model has no prompt {name!r}")
        return [self._contract.prompts[name] + text for text in texts]

    def _embed(self, texts: Sequence[str], prompt: str | None, seconds: float) -> dict[str, Any]:
        """Texts in as few requests as a service takes."""
        named = {"prompt_name": prompt} if self._baked and prompt is not None else {}
        prompted, most = self._prompted(texts, prompt), self._dialect.most
        parts = [
            agreed(
                [
                    self._dialect.vectors(
                        self._exchange(self._address, body | named, seconds).json()
                    )
                    for body in self._dialect.bodies(prompted[first : first + most])
                ]
            )
            for first in range(0, len(prompted), most)
        ]
        return encoded(joined(parts), self._contract.output.dtype)

    def _tokenize(self, texts: Sequence[str], prompt: str | None, seconds: float) -> Answer:
        address = self._dialect.ids_address(self._address)
        if address is None:
            return _skipped("OpenAI's schema has no token ids")
        body = {"inputs": self._prompted(texts, prompt), "add_special_tokens": True}
        reply = self._exchange(address, body, seconds)
        if reply.status in _NO_SUCH_ROUTE:
            return _skipped("the service has no /tokenize")
        rows = token_ids(reply.json())
        if any(len(row) > self._contract.max_length for row in rows):
            return _skipped("/tokenize does not cut texts that are too long")
        return Results(seq=0, results=rows)


def _skipped(reason: str) -> Skipped:
    return Skipped(seq=0, skipped=True, reason=reason)
