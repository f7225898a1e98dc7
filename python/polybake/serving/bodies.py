"""Bodies of requests, which have a time to arrive in and a budget together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive

from polybake.serving.limits import Limits
from polybake.serving.refusal import Refusal


class Bodies:
    """Receives the bodies of requests within limits.

    If all bodies together exceed their limit, the largest unfinished body is refused: so small
    requests are served while others send much.

    Args:
        limits: The limits of a body, of all bodies, and of the time to receive a body.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._arriving: dict[asyncio.Timeout, int] = {}
        self._held = 0

    @asynccontextmanager
    async def received(self, receive: Receive) -> AsyncIterator[bytes]:
        """Receive a whole body, which counts towards the limit until the block ends.

        Raises:
            Refusal: The body is too large or too slow, there is no room for it, or it ends early.
        """
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
