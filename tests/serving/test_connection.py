"""Connections of a real server, on which nobody may wait for ever."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from polybake.serving.connection import connections
from polybake.serving.limits import Limits

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"


@contextmanager
def listening(limits: Limits) -> Iterator[int]:
    """The port of a server that answers at once, whatever else is sent."""
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("a"), methods=["GET", "POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=connections(limits), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)


def seconds(port: int, first: bytes, drip: bytes = b"") -> float:
    """How long it takes until the other side closes."""
    started = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port)) as one:
        one.sendall(first)
        one.settimeout(0.05)
        while time.perf_counter() - started < 10:
            try:
                if not one.recv(1000):
                    break
            except TimeoutError:
                if drip:
                    one.send(drip)
            except OSError:
                break
    return time.perf_counter() - started


def test_headers_have_a_time_to_arrive_in() -> None:
    """Silent and dripping connections are ended, also at their next request."""
    with listening(Limits(head=0.5)) as port:
        assert 0.4 < seconds(port, b"") < 3
        assert 0.4 < seconds(port, HEAD, b"A: b\r\n") < 3
        assert 0.4 < seconds(port, HEAD + b"\r\n" + HEAD, b"A: b\r\n") < 3


def test_a_body_that_nobody_reads_ends() -> None:
    """The connection closes a while after the answer."""
    with listening(Limits(receive=-4.5)) as port:
        assert 0.4 < seconds(port, BODY, b"a") < 3


def test_whoever_keeps_asking_is_not_ended() -> None:
    """The time limit is for one request, not for the connection."""
    with listening(Limits(head=0.3)) as port, httpx.Client() as client:
        for _ in range(8):
            assert client.get(f"http://127.0.0.1:{port}").text == "a"
            time.sleep(0.1)


def test_connections_that_wait_make_room() -> None:
    """Idle connections beyond the limit do not keep requests from an answer."""
    with listening(Limits(connections=20)) as port:
        open_ = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        for one in open_:
            one.sendall(HEAD)
        assert httpx.get(f"http://127.0.0.1:{port}", timeout=5).text == "a"
        time.sleep(0.2)
        closed = 0
        for one in open_:
            one.setblocking(False)
            try:
                one.recv(1)
            except BlockingIOError:
                continue
            except OSError:
                pass
            closed += 1
        for one in open_:
            one.close()
        assert closed >= 40
