"""The process that listens."""

import json
import logging
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI

from polybake.errors import InputError
from polybake.serving.gate import LOG


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or []:
            host, port = one.getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            LOG.info(json.dumps({"listening": f"http://{shown}:{port}"}))


def run(app: FastAPI, host: str, port: int, *, drain: int) -> None:
    """Listen until SIGTERM or SIGINT; requests at work are answered before it ends.

    Args:
        app: The service.
        host: The address to listen at.
        port: 0 takes a free one.
        drain: Seconds to answer them in.

    Raises:
        InputError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise InputError(f"{host}:{port}: cannot be had ({error}); choose another port") from error
    LOG.setLevel(logging.INFO)
    LOG.addHandler(logging.StreamHandler(sys.stderr))
    LOG.propagate = False
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=drain,
    )
    server = _Server(config)

    def end(*_: object) -> None:
        server.should_exit = True

    # uvicorn ends by these, and then raises them once more for whoever had them before.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    server.run(sockets=[listener])
