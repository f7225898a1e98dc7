"""A request over HTTP that ends in time and follows no redirects."""

import http.client
import json
import queue
import threading
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError, URLError

from polybake import __version__
from polybake.verification.verdict import HarnessError, Status

#: The most bytes of an answer.
LARGEST = 1 << 28

_PART = 1 << 16
_SHOWN = 200


@dataclass(frozen=True)
class Reply:
    """A server's response, whatever it is."""

    status: int
    headers: Message
    body: bytes

    @property
    def refusal(self) -> str | None:
        """The status with the beginning of the body; None if the status is 200."""
        if self.status == HTTPStatus.OK:
            return None
        if HTTPStatus.MULTIPLE_CHOICES <= self.status < HTTPStatus.BAD_REQUEST:
            to = self.headers.get("Location", "nowhere")
            return f"HTTP {self.status} to {to:.{_SHOWN}}; give the address that answers itself"
        text = " ".join(self.body.decode("utf-8", "replace").split())
        return f"HTTP {self.status}: {text:.{_SHOWN}}"

    def json(self) -> Any:
        """Return the body as JSON."""
        if self.refusal:
            raise ValueError(self.refusal)
        try:
            return json.loads(self.body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            text = " ".join(self.body.decode("utf-8", "replace").split())
            raise ValueError(f"not JSON: {text:.{_SHOWN}}") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: texts and keys go only to the user's address."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Make an error of the redirect."""


def exchange(url: str, body: object, headers: Mapping[str, str], seconds: float) -> Reply:
    """Post ``body`` as JSON, or get if it is None, within ``seconds`` in all.

    Like in ``urllib``, proxies come from the environment, and certificates are checked.
    """
    request = urllib.request.Request(  # noqa: S310 - an address of HTTP, see address
        url.partition("#")[0],
        None if body is None else json.dumps(body, ensure_ascii=True).encode("ascii"),
        {"User-Agent": f"polybake/{__version__}", "Content-Type": "application/json", **headers},
    )
    inbox: queue.SimpleQueue[Reply | HarnessError] = queue.SimpleQueue()
    late = threading.Event()
    # A socket's time-out starts anew with each byte of a slow server.
    threading.Thread(target=lambda: inbox.put(_answer(request, seconds, late)), daemon=True).start()
    try:
        reply = inbox.get(timeout=seconds)
    except queue.Empty:
        late.set()
        raise HarnessError(Status.TIMEOUT, f"no answer in {seconds:g} s") from None
    if isinstance(reply, HarnessError):
        raise reply
    return reply


def _answer(
    request: urllib.request.Request, seconds: float, late: threading.Event
) -> Reply | HarnessError:
    try:
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            response = opener.open(request, timeout=seconds)
        except HTTPError as error:
            response = error
        with response:
            return _read(response, late)
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            return HarnessError(Status.TIMEOUT, f"no answer in {seconds:g} s")
        if isinstance(reason, http.client.HTTPException):
            return HarnessError(Status.ERROR, f"not an answer of HTTP: {reason!r:.{_SHOWN}}")
        return HarnessError(Status.CRASH, f"cannot be reached: {reason}; is it running there?")


def _read(response: Any, late: threading.Event) -> Reply | HarnessError:
    body = bytearray()
    while not late.is_set() and (part := response.read1(_PART)):
        body += part
        if len(body) > LARGEST:
            return HarnessError(Status.ERROR, f"answers more than {LARGEST} bytes")
    return Reply(response.status, response.headers, bytes(body))
