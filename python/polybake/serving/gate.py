"""What every request passes: keys, limits, times, counts and the log."""

import asyncio
import hmac
import json
import logging
import time
import traceback
from collections.abc import Callable, Sequence

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polybake.serving.limits import Limits
from polybake.serving.refusal import Refusal

#: Where each request leaves a line, without a word of its texts.
LOG = logging.getLogger("polybake.serving")

#: Whoever watches the service has no key.
_OPEN = ("/health", "/health/live", "/health/ready", "/metrics")


class Gate:
    """Lets requests in that have a key and fit, and ends those that take too long.

    Args:
        app: Who answers them.
        keys: Any of which will do; none lets all in.
        limits: Of body, number and time.
        paths: Those that there are; others are counted together.
        took: Is told path, status and seconds of each request.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Sequence[str],
        limits: Limits,
        paths: Sequence[str],
        took: Callable[[str, int, float], None],
    ) -> None:
        self._app = app
        self._keys = [key.encode() for key in keys]
        self._limits = limits
        self._paths = frozenset(paths)
        self._took = took
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, started, status = scope["path"], time.perf_counter(), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._inside += 1
        try:
            self._check(path, Headers(scope=scope))
            async with asyncio.timeout(self._limits.timeout):
                body = await self._body(receive)
                await self._app(scope, _replayed(body, receive), sent)
        except Exception as error:  # whatever it is, the caller has an answer
            if not status:
                await refused(path, self._why(error))(scope, receive, sent)
        finally:
            self._inside -= 1
            seconds = time.perf_counter() - started
            known = path if path in self._paths else "other"
            self._took(known, status, seconds)
            LOG.info(json.dumps({"path": known, "status": status, "seconds": round(seconds, 6)}))

    def _check(self, path: str, headers: Headers) -> None:
        if path in _OPEN:
            return
        if self._keys:
            scheme, _, key = headers.get("authorization", "").partition(" ")
            given = key.strip().encode() if scheme.lower() == "bearer" else b""
            if not any([hmac.compare_digest(given, one) for one in self._keys]):  # noqa: C419 - all
                raise Refusal("unauthorized", "no valid key; send Authorization: Bearer and a key")
        if self._inside > self._limits.requests:
            message = f"{self._limits.requests} requests are at work; ask again later"
            raise Refusal("overloaded", message, retry_after=1)
        if int(headers.get("content-length", "0")) > self._limits.body:
            raise self._too_large()

    async def _body(self, receive: Receive) -> bytes:
        """The whole body, as far as it is no longer than it may be."""
        body, more = bytearray(), True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._limits.body:
                raise self._too_large()
        return bytes(body)

    def _why(self, error: Exception) -> Refusal:
        if isinstance(error, Refusal):
            return error
        if isinstance(error, TimeoutError):
            late = f"not done within {self._limits.timeout:g} seconds; send fewer texts"
            return Refusal("timeout", late)
        # The message of an error may quote a text, its place never does.
        place = traceback.format_tb(error.__traceback__)
        LOG.error(json.dumps({"error": type(error).__name__, "traceback": place}))
        return Refusal("backend", f"failed ({type(error).__name__}); the service's log says where")

    def _too_large(self) -> Refusal:
        message = f"the request has more than {self._limits.body} bytes; send fewer texts"
        return Refusal("validation", message, status=413)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receives a body that was read, and then what comes behind it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


def refused(path: str, why: Refusal) -> JSONResponse:
    """The answer to a request that is not served."""
    return JSONResponse(why.body(path), why.status, why.headers)
