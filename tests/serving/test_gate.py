"""The checks that every request passes."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from threading import Event

import httpx
import pytest
from starlette.types import Message

from polybake.runtime.runner import Runner
from polybake.serving.limits import Limits
from support.servers.service import service, serving

PATH, JSON = "/v1/embeddings", "application/json"
BODY = {"model": "every-feed", "input": ["a secret text"]}


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Every batch waits for it."""
    event, of_each = Event(), Runner.of_each

    def later(*arguments: object) -> object:
        event.wait()
        return of_each(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Runner, "of_each", later)
    yield event
    event.set()


def test_keys(every_feed: Path) -> None:
    """Any of the keys is accepted; monitoring needs none."""
    with serving(every_feed, keys=["first", "second"]) as client:
        for given in ("", "Bearer third", "Bearer ", "first", "Basic first"):
            header = {"Authorization": given} if given else {}
            refused = client.post(PATH, json=BODY, headers=header)
            assert refused.status_code == 401
            assert refused.json()["error"]["message"].startswith("no valid key; send Authorization")
        for given in ("Bearer first", "bearer second"):
            header = {"Authorization": given}
            assert client.post(PATH, json=BODY, headers=header).status_code == 200
        for path in ("/health", "/health/live", "/health/ready", "/metrics"):
            assert client.get(path).status_code == 200
        assert client.get("/v1/models").status_code == 401
        assert client.get("/openapi.json").status_code == 401


@pytest.mark.parametrize("told", [True, False])
def test_large_requests(every_feed: Path, *, told: bool) -> None:
    """A large body is refused, whether or not its header tells the length."""
    body = json.dumps({**BODY, "input": "a" * 2000}).encode()
    pieces = iter([body[:900], body[900:]])
    with serving(every_feed, limits=Limits(body=1000)) as client:
        header = {"Content-Type": "application/json"}
        response = client.post(PATH, content=body if told else pieces, headers=header)
        assert response.status_code == 413
        message = "the request has more than 1000 bytes; send fewer texts"
        assert response.json()["error"]["message"] == message
        assert client.post(PATH, json=BODY).status_code == 200


def test_late_requests(every_feed: Path, released: Event) -> None:
    """Late requests are ended, and the service goes on."""
    with serving(every_feed, limits=Limits(timeout=0.1)) as client:
        response = client.post(PATH, json=BODY)
        assert client.get("/health/ready").text == "ready"
        released.set()
    assert response.status_code == 504
    error = response.json()["error"]
    assert error["message"] == "not done within 0.1 seconds; send fewer texts"
    assert error["type"] == "server_error"


def test_too_many_requests(every_feed: Path, released: Event) -> None:
    """Requests beyond the limit are told to come again."""
    with serving(every_feed, limits=Limits(requests=2)) as client, ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(client.post, PATH, json=BODY) for _ in range(5)]
        refused = [one.result() for one in islice(as_completed(asked), 3)]
        released.set()
        statuses = sorted(one.result().status_code for one in asked)
    assert [(one.status_code, one.headers["Retry-After"]) for one in refused] == [(429, "1")] * 3
    assert statuses == [200, 200, 429, 429, 429]


@pytest.mark.parametrize(
    ("method", "path", "key", "status"),
    [
        ("GET", "/health/live", "", 200),
        ("POST", "/metrics", "", 405),
        ("POST", "/unknown", "key", 404),
        ("GET", "/v1/models", "key", 200),
        ("GET", "/v1/embeddings", "key", 405),
        ("POST", "/v1/embeddings", "", 401),
        ("POST", "/v1/embeddings", "wrong", 401),
    ],
)
@pytest.mark.anyio
async def test_bodies_that_nobody_wants_are_not_read(
    every_feed: Path, method: str, path: str, key: str, status: int
) -> None:
    """A body is not read if its path takes none or its caller lacks a key."""
    sent: list[Message] = []

    async def read() -> Message:
        raise AssertionError("the body is read")

    async def send(message: Message) -> None:
        sent.append(message)

    app = service(every_feed, keys=["key"])
    headers = [(b"authorization", f"Bearer {key}".encode())]
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    more = {"query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http"}
    await app({**scope, **more}, read, send)
    assert sent[0]["status"] == status


@pytest.mark.anyio
async def test_unfinished_bodies_take_no_place(every_feed: Path) -> None:
    """A body that is still arriving does not keep a complete request waiting."""
    going, answered = asyncio.Event(), asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"{"
        going.set()
        await answered.wait()
        yield b"}"

    app, header = service(every_feed, limits=Limits(requests=1)), {"Content-Type": JSON}
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://service") as client,
    ):
        slow = asyncio.create_task(client.post(PATH, content=endless(), headers=header))
        await going.wait()
        finished = await asyncio.wait_for(client.post(PATH, json=BODY), 30)
        answered.set()
        assert (finished.status_code, (await slow).status_code) == (200, 422)


def test_the_schema_is_there(every_feed: Path) -> None:
    """The schema is served, but no page that loads scripts from elsewhere."""
    with serving(every_feed) as client:
        paths = client.get("/openapi.json").json()["paths"]
        assert {"/v1/embeddings", "/embed", "/v1/rerank", "/health/ready"} <= {*paths}
        assert client.get("/docs").status_code == 404
        assert client.get("/redoc").status_code == 404


def test_a_failure_of_our_own_is_an_answer(
    every_feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer has the schema of its path, and nothing of the traceback."""

    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(Runner, "ids", fail)
    with serving(every_feed, raise_errors=False) as client:
        response = client.post(PATH, json=BODY)
        assert response.status_code == 500
        assert "secret" not in response.text
        assert response.json()["error"]["code"] == "backend"
