"""The process that listens."""

import asyncio
import signal
import socket
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from polybake import __version__
from polybake.errors import InputError
from polybake.serving.limits import Limits
from polybake.serving.log import LOG, to_standard_error

#: The signals that end the server; SIGHUP means that the process that started it has gone.
_ENDS = ("SIGINT", "SIGTERM", "SIGHUP")

#: The files that a process holds beside its connections.
_FILES = 64


class _Server(uvicorn.Server):
    """A server that logs where it listens, once it does, and which files it serves."""

    facts: dict[str, object]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            host, port = listener.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            LOG.info({"listening": f"http://{shown}:{port}"} | self.facts)


def run(app: FastAPI, host: str, port: int, *, limits: Limits, drain: int) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; requests at work are answered before the end."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without a named protocol asyncio leaves Nagle on: 40 ms between headers and body.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform != "win32":  # where a second server could take the port, too
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise InputError(f"{host}:{port}: cannot be had ({error}); choose another port") from error
    to_standard_error()
    config = uvicorn.Config(
        app,
        http=connections(replace(limits, connections=min(limits.connections, _descriptors()))),
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=drain,
    )
    server = _Server(config)
    models = {model.name: model.manifest.fingerprint for model in app.state.models}
    server.facts = {"version": __version__, "models": models}

    def end(*_: object) -> None:
        server.should_exit = True

    # uvicorn ends at these signals, then raises them again for the handlers set before.
    for name in _ENDS:
        if name in signal.Signals.__members__:  # Windows has no SIGHUP
            signal.signal(signal.Signals[name], end)
    server.run(sockets=[listener])


def _descriptors() -> int:
    """Connections that the system lets this process have open."""
    if sys.platform == "win32":
        return sys.maxsize
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else max(1, soft - _FILES)


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
            others = (peer for peer in self.connections if peer is not self)
            waits = (peer for peer in others if isinstance(peer, Connection) and peer.unfinished)
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
