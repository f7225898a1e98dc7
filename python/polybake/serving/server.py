"""The process that listens."""

import signal
import socket
import sys
from dataclasses import replace

import uvicorn
from fastapi import FastAPI

from polybake import __version__
from polybake.errors import InputError
from polybake.serving.connection import connections
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
        for one in sockets or []:
            host, port = one.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            LOG.info({"listening": f"http://{shown}:{port}"} | self.facts)


def run(app: FastAPI, host: str, port: int, *, limits: Limits, drain: int) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; requests at work are answered before the end.

    Args:
        app: The service.
        host: The address to listen at.
        port: The port; 0 takes a free port.
        limits: The limits of connections.
        drain: Seconds in which requests at work must be answered at the end.

    Raises:
        InputError: The address is not available.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without a named protocol asyncio leaves Nagle on: 40 ms between headers and body.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
