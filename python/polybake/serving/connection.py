"""Connections that do not wait forever for the rest of a request."""

import asyncio
from functools import partial
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from polybake.serving.limits import Limits

#: Seconds after the answer to a late body, for the caller to read it.
_LINGER = 5.0


class Connection(H11Protocol):
    """A connection of uvicorn, which itself waits without end for headers and bodies."""

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._state: Any = None
        self._end: asyncio.TimerHandle | None = None

    @property
    def unfinished(self) -> bool:
        """Whether the connection waits for the rest of a request, or for the next request."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; if there are too many connections, close one that waits."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self._limits.connections:
            others = (one for one in self.connections if one is not self)
            waits = (one for one in others if isinstance(one, Connection) and one.unfinished)
            ended = next(waits, self)
            self.connections.discard(ended)  # at once, as more may come before it is lost
            ended.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request."""
        super().data_received(data)
        self._wait()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        super().connection_lost(exc)
        if self._end:
            self._end.cancel()

    def _wait(self) -> None:
        """Set a deadline for the awaited part of a request, from the moment the wait began."""
        state = self.conn.their_state
        if state is self._state:
            return
        self._state = state
        if self._end:
            self._end.cancel()
        seconds = {h11.IDLE: self._limits.head, h11.SEND_BODY: self._limits.receive + _LINGER}
        late = seconds.get(state)
        self._end = None if late is None else self.loop.call_later(late, self.transport.abort)


def connections(limits: Limits) -> Any:
    """Return the factory that uvicorn calls for each connection."""
    return partial(Connection, limits=limits)
