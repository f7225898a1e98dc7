"""The gate that every request passes: keys, limits, time, metrics and the log."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, nullcontext

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from polybake.serving.limits import Limits
from polybake.serving.log import LOG
from polybake.serving.metrics import Metrics
from polybake.serving.refusal import Refusal
from polybake.serving.work import WORK, Work, request_id

#: Whoever watches the service has no key.
_OPEN = ("/health", "/health/live", "/health/ready", "/metrics")


class Gate:
    """Admits requests that have a key and fit the limits, and ends those that take too long."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Sequence[str],
        limits: Limits,
        paths: Collection[str],
        bodies: Collection[str],
        metrics: Metrics,
    ) -> None:
        self._app = app
        self._keys = [key.encode() for key in keys]
        self._limits = limits
        self._paths = frozenset(paths)
        self._takes = frozenset(bodies)
        self._bodies = Bodies(limits)
        self._metrics = metrics
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path, started, status = scope["path"], time.perf_counter(), 0
        headers = Headers(scope=scope)
        work = Work(request_id(headers))
        WORK.set(work)

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = work.request
            await send(message)

        try:
            self._check(path, headers)
            takes = scope["method"] == "POST" and path in self._takes
            if takes:
                self._check_body(headers)
            body_of = self._bodies.received(receive) if takes else nullcontext(b"")
            async with body_of as body, self._place(path):
                async with asyncio.timeout(self._limits.timeout):
                    await self._app(scope, _replayed(body, receive), sent)
        except (Exception, asyncio.CancelledError) as error:  # the caller has an answer
            if not status:
                await refused(path, self._why(error))(scope, receive, sent)
        finally:
            seconds = time.perf_counter() - started
            known = path if path in self._paths else "other"
            self._metrics.took(known, status, seconds, work)
            LOG.info(
                {
                    "request_id": work.request,
                    "path": known,
                    "status": status,
                    "model": work.model,
                    "texts": work.texts,
                    "tokens": work.tokens,
                    "milliseconds": round(seconds * 1000, 3),
                }
            )

    def _check(self, path: str, headers: Headers) -> None:
        if path in _OPEN:
            return
        if self._keys:
            scheme, _, value = headers.get("authorization", "").partition(" ")
            token = value.strip().encode() if scheme.lower() == "bearer" else b""
            if not any([hmac.compare_digest(token, key) for key in self._keys]):  # noqa: C419 - all
                raise Refusal("unauthorized", "no valid key; send Authorization: Bearer and a key")

    def _check_body(self, headers: Headers) -> None:
        """Refuse a body by its headers."""
        if int(headers.get("content-length", "0")) > self._limits.body:
            raise too_large(self._limits)
        coding = headers.get("content-encoding", "identity")
        if coding != "identity":
            message = f"Content-Encoding is {coding[:50]}; send the body as it is"
            raise Refusal("validation", message, status=415)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            message = f"Content-Type is {kind[:50] or 'missing'}; send application/json"
            raise Refusal("validation", message, status=415)

    @asynccontextmanager
    async def _place(self, path: str) -> AsyncIterator[None]:
        """Take a place among the requests at work; an unfinished body takes none."""
        if self._inside >= self._limits.requests and path not in _OPEN:
            message = f"{self._limits.requests} requests are at work; ask again later"
            raise Refusal("overloaded", message, retry_after=1)
        self._inside += 1
        self._metrics.inside.set(self._inside)
        try:
            yield
        finally:
            self._inside -= 1
            self._metrics.inside.set(self._inside)

    def _why(self, error: BaseException) -> Refusal:
        if isinstance(error, Refusal):
            return error
        if isinstance(error, TimeoutError):
            late = f"not done within {self._limits.timeout:g} seconds; send fewer texts"
            return Refusal("timeout", late)
        if isinstance(error, asyncio.CancelledError):  # by the server, whose time to drain is over
            ending = "the service ends; ask again"
            return Refusal("overloaded", ending, status=503, retry_after=1)
        LOG.error("a request failed", exc_info=error)
        return Refusal("backend", f"failed ({type(error).__name__}); the service's log says where")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that receives the read body again, then the following messages."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


def refused(path: str, why: Refusal) -> JSONResponse:
    """The answer to a request that is not served."""
    return JSONResponse(why.body(path), why.status, why.headers)


class Bodies:
    """Receives the bodies of requests within limits.

    If all bodies together exceed their limit, the largest unfinished body is refused: so small
    requests are served while others send much.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._arriving: dict[asyncio.Timeout, int] = {}
        self._held = 0

    @asynccontextmanager
    async def received(self, receive: Receive) -> AsyncIterator[bytes]:
        """Receive a whole body, which counts towards the limit until the block ends."""
        body = await self._whole(receive)
        self._held += len(body)
        try:
            yield body
        finally:
            self._held -= len(body)

    async def _whole(self, receive: Receive) -> bytes:
        parts, more = list[bytes](), True
        try:
            async with asyncio.timeout(self._limits.receive) as until:
                self._arriving[until] = 0
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        early = "the body ends early; send it whole"
                        raise Refusal("validation", early, status=400)
                    parts.append(message.get("body", b""))
                    more = message.get("more_body", False)
                    self._count(until, len(parts[-1]))
                return b"".join(parts)
        except TimeoutError as error:
            if until not in self._arriving:
                raise self._full() from error
            within = f"the body did not arrive within {self._limits.receive:g} seconds"
            raise Refusal("timeout", f"{within}; send fewer texts", status=408) from error
        finally:
            self._held -= self._arriving.pop(until, 0)

    def _count(self, until: asyncio.Timeout, size: int) -> None:
        """Add bytes to a body, and refuse the largest body if all together are too large."""
        if until not in self._arriving:
            raise self._full()
        self._arriving[until] += size
        self._held += size
        if self._arriving[until] > self._limits.body:
            raise too_large(self._limits)
        while self._held > self._limits.bodies and self._arriving:
            largest = max(self._arriving, key=self._arriving.__getitem__)
            self._held -= self._arriving.pop(largest)
            if largest is until:
                raise self._full()
            largest.reschedule(0)

    def _full(self) -> Refusal:
        message = f"bodies of {self._limits.bodies} bytes are held; ask again later"
        return Refusal("overloaded", message, retry_after=1)


def too_large(limits: Limits) -> Refusal:
    """Return the refusal of a body that is too large."""
    message = f"the request has more than {limits.body} bytes; send fewer texts"
    return Refusal("validation", message, status=413)
