"""Connections on which nobody may wait for ever, on a clock that goes as fast as it can."""

import asyncio
import selectors
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from unittest.mock import Mock

import uvicorn
from uvicorn.server import ServerState

from polybake.serving.limits import Limits
from polybake.serving.server import Connection, connections

HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"


class Loop(asyncio.SelectorEventLoop):
    """Goes on to the next moment at which something is to be done, instead of waiting for it."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(Clock(self))

    def time(self) -> float:
        return self._now

    def pass_by(self, seconds: float | None) -> None:
        self._now += seconds or 0.0


class Clock(selectors.SelectSelector):
    """Lets a loop's time pass."""

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._loop.pass_by(timeout)
        return super().select(0)


class Opened:
    """Connections of one server, which answers at once, whatever else is sent."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._state = limits, ServerState()
        self._config = uvicorn.Config(answer, log_level="error")

    def one(self) -> tuple[Connection, Mock]:
        state: dict[str, Any] = {"server_state": self._state, "app_state": {}}
        made = connections(self._limits)(config=self._config, **state)
        transport = Mock(spec=asyncio.Transport)
        transport.get_extra_info.return_value = None
        transport.is_closing.side_effect = lambda: transport.abort.called
        made.connection_made(transport)
        return made, transport

    async def ended(self, first: bytes, drip: bytes = b"") -> float:
        """The second at which the other side ends a connection."""
        connection, transport = self.one()
        started = asyncio.get_running_loop().time()
        for _ in range(1000):
            if first:  # no bytes would be the end of all
                connection.data_received(first)
            await asyncio.sleep(0.01)
            if transport.abort.called:
                break
            first = drip
        return asyncio.get_running_loop().time() - started


def sent(transport: Mock) -> bytes:
    return b"".join(call.args[0] for call in transport.write.call_args_list)


async def answer(_scope: Any, _receive: Any, send: Any) -> None:
    length = [(b"content-length", b"1")]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": b"a"})


def run(use: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(use())  # type: ignore[arg-type]


def test_headers_have_a_time_to_arrive_in() -> None:
    """Silent and dripping connections are ended, also at their next request."""

    async def use() -> None:
        opened = Opened(Limits(head=0.5))
        whole, more = HEAD + b"\r\n", b"A: b\r\n"
        for first, drip in ((b"", b""), (HEAD, more), (whole, b""), (whole + HEAD, more)):
            assert 0.49 < await opened.ended(first, drip) < 0.53

    run(use)


def test_a_body_that_nobody_reads_ends() -> None:
    """The connection closes a while after the answer."""

    async def use() -> None:
        assert 5.99 < await Opened(Limits(receive=1)).ended(BODY, b"a") < 6.03

    run(use)


def test_whoever_keeps_asking_is_not_ended() -> None:
    """The time limit is for one request, not for the connection."""

    async def use() -> None:
        connection, transport = Opened(Limits(head=0.3)).one()
        for count in range(1, 9):
            connection.data_received(HEAD + b"\r\n")
            await asyncio.sleep(0.1)
            assert (sent(transport).count(b"200 OK"), transport.abort.called) == (count, False)

    run(use)


def test_connections_that_wait_make_room() -> None:
    """Idle connections beyond the limit do not keep requests from an answer."""

    async def use() -> None:
        opened = Opened(Limits(connections=20))
        waiting = [opened.one() for _ in range(60)]
        connection, transport = opened.one()
        connection.data_received(HEAD + b"\r\n")
        await asyncio.sleep(0.1)
        assert sent(transport).endswith(b"\r\n\r\na")
        assert sum(other.abort.called for _, other in waiting) == 41

    run(use)


def test_a_real_connection_is_ended() -> None:
    """A socket on which nothing arrives is closed by a server that listens."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(answer, http=connections(Limits(head=0.05)), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        address = listener.getsockname()
        with socket.create_connection(address, timeout=30) as one, suppress(ConnectionResetError):
            assert one.recv(1) == b""
    finally:
        server.should_exit = True
        thread.join(20)
