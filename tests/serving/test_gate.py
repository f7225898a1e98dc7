"""The checks that every request passes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from starlette.types import Message

from polybake.runtime.runner import Runner
from polybake.serving.limits import Limits
from polybake.serving.log import LOG, Lines
from support.servers.service import service, serving

BODY = {"model": "every-feed", "input": ["a secret text"]}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every batch take a while."""
    of_each = Runner.of_each

    def later(*arguments: object) -> object:
        time.sleep(0.3)
        return of_each(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Runner, "of_each", later)


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """The lines that the log gets."""
    told: list[str] = []

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(Lines().format(record))

    handler = Told()
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    yield told
    LOG.removeHandler(handler)


def test_keys(every_feed: Path) -> None:
    """Any of the keys is accepted; monitoring needs none."""
    with serving(every_feed, keys=["first", "second"]) as client:
        for given in ("", "Bearer third", "Bearer ", "first", "Basic first"):
            header = {"Authorization": given} if given else {}
            refused = client.post("/v1/embeddings", json=BODY, headers=header)
            assert refused.status_code == 401
            assert refused.json()["error"]["message"].startswith("no valid key; send Authorization")
        for given in ("Bearer first", "bearer second"):
            header = {"Authorization": given}
            assert client.post("/v1/embeddings", json=BODY, headers=header).status_code == 200
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
        response = client.post("/v1/embeddings", content=body if told else pieces, headers=header)
        assert response.status_code == 413
        message = "the request has more than 1000 bytes; send fewer texts"
        assert response.json()["error"]["message"] == message
        assert client.post("/v1/embeddings", json=BODY).status_code == 200


def test_late_requests(every_feed: Path, slow: None) -> None:  # noqa: ARG001
    """Late requests are ended, and the service goes on."""
    with serving(every_feed, limits=Limits(timeout=0.1)) as client:
        response = client.post("/v1/embeddings", json=BODY)
        assert response.status_code == 504
        error = response.json()["error"]
        assert error["message"] == "not done within 0.1 seconds; send fewer texts"
        assert error["type"] == "server_error"
        assert client.get("/health/ready").text == "ready"


def test_too_many_requests(every_feed: Path, slow: None) -> None:  # noqa: ARG001
    """Requests beyond the limit are told to come again."""
    with (
        serving(every_feed, limits=Limits(requests=2)) as client,
        ThreadPoolExecutor(5) as pool,
    ):
        answers = [*pool.map(lambda _: client.post("/v1/embeddings", json=BODY), range(5))]
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] == 200
    assert statuses[-1] == 429
    assert {*statuses} == {200, 429}
    assert {one.headers.get("Retry-After") for one in answers if one.status_code == 429} == {"1"}


def test_numbers_and_log(every_feed: Path, lines: list[str]) -> None:
    """Metrics and log have known paths, states and seconds; never texts or other paths."""
    with serving(every_feed) as client:
        assert client.post("/v1/embeddings", json=BODY).status_code == 200
        assert client.post("/v1/embeddings", json={}).status_code == 422
        assert client.get("/a-secret-path").status_code == 404
        numbers = client.get("/metrics").text
    assert 'polybake_requests_total{path="/v1/embeddings",status="200"} 1.0' in numbers
    assert 'polybake_requests_total{path="other",status="404"} 1.0' in numbers
    assert 'polybake_waiting_tokens{model="every-feed"} 0.0' in numbers
    assert 'polybake_model{fingerprint="' in numbers
    for name in ("texts", "texts_at_limit", "batch_texts_count"):
        line = f'polybake_{name}{"" if "count" in name else "_total"}{{model="every-feed"}} '
        assert f"{line}{0.0 if 'limit' in name else 1.0}" in numbers
    assert 'polybake_tokens_total{model="every-feed"} 13.0' in numbers
    assert "polybake_requests_in_flight 1.0" in numbers
    assert "process_resident_memory_bytes" in numbers
    told = [json.loads(line) for line in lines]
    assert [line["status"] for line in told] == [200, 422, 404, 200]
    first = told[0]
    assert (first["model"], first["texts"], first["tokens"]) == ("every-feed", 1, 13)
    assert first["milliseconds"] > 0
    assert first["time"].endswith("+00:00")
    assert "secret" not in numbers + "".join(lines)


def test_texts_that_were_cut_are_counted(every_feed: Path) -> None:
    """Texts with as many tokens as the model takes are counted, cut or not."""
    with serving(every_feed) as client:
        client.post("/v1/embeddings", json={**BODY, "input": ["a", "b " * 50, "c " * 50]})
        numbers = client.get("/metrics").text
    assert 'polybake_texts_total{model="every-feed"} 3.0' in numbers
    assert 'polybake_texts_at_limit_total{model="every-feed"} 2.0' in numbers


def test_a_request_has_an_id(every_feed: Path, lines: list[str]) -> None:
    """The caller's id or a new one is in the answer and in the log, also of refusals."""
    with serving(every_feed, keys=["key"]) as client:
        for status, header in ((200, {"Authorization": "Bearer key"}), (401, {})):
            own = {"X-Request-Id": f"own-{status}", **header}
            response = client.post("/v1/embeddings", json=BODY, headers=own)
            assert response.status_code == status
            assert response.headers["X-Request-Id"] == f"own-{status}"
        made = client.get("/health/live").headers["X-Request-Id"]
    assert [json.loads(line)["request_id"] for line in lines] == ["own-200", "own-401", made]


class Unread:
    """A body that nobody may read."""

    def __init__(self) -> None:
        self.read = 0

    async def __call__(self) -> Message:
        self.read += 1
        return {"type": "http.request", "body": b"a" * 1000, "more_body": True}


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
def test_bodies_that_nobody_wants_are_not_read(
    every_feed: Path, method: str, path: str, key: str, status: int
) -> None:
    """A body is not read if its path takes none or its caller lacks a key."""
    body, sent = Unread(), list[Message]()

    async def send(message: Message) -> None:
        sent.append(message)

    with serving(every_feed, keys=["key"]) as client:
        headers = [(b"authorization", f"Bearer {key}".encode())]
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        more = {"query_string": b"", "root_path": "", "http_version": "1.1", "scheme": "http"}
        asyncio.run(client.app({**scope, **more}, body, send))
    assert sent[0]["status"] == status
    assert body.read == 0


def test_unfinished_bodies_take_no_place(every_feed: Path) -> None:
    """A body that is still arriving does not keep a complete request waiting."""

    async def statuses() -> tuple[int, int]:
        going, answered = asyncio.Event(), asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            yield b"{"
            going.set()
            await answered.wait()
            yield b"}"

        app = service(every_feed, limits=Limits(requests=1))
        header = {"Content-Type": "application/json"}
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):
            path = "/v1/embeddings"
            slow = asyncio.create_task(client.post(path, content=endless(), headers=header))
            await going.wait()
            finished = await asyncio.wait_for(client.post(path, json=BODY), 30)
            answered.set()
            return finished.status_code, (await slow).status_code

    assert asyncio.run(statuses()) == (200, 422)


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
        response = client.post("/v1/embeddings", json=BODY)
        assert response.status_code == 500
        assert "secret" not in response.text
        assert response.json()["error"]["code"] == "backend"
