"""What every request passes."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from polybake.runtime.runner import Runner
from polybake.serving.gate import LOG
from polybake.serving.limits import Limits
from support.service import serving

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
    """What the log is told."""
    told: list[str] = []

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(record.getMessage())

    handler = Told()
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)
    yield told
    LOG.removeHandler(handler)


def test_keys(every_feed: Path) -> None:
    """Any of them opens it; who watches needs none."""
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
    """Their length is not believed."""
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
    """They are ended, and the service goes on."""
    with serving(every_feed, limits=Limits(timeout=0.1)) as client:
        response = client.post("/v1/embeddings", json=BODY)
        assert response.status_code == 504
        error = response.json()["error"]
        assert error["message"] == "not done within 0.1 seconds; send fewer texts"
        assert error["type"] == "server_error"
        assert client.get("/health/ready").text == "ready"


def test_too_many_requests(every_feed: Path, slow: None) -> None:  # noqa: ARG001
    """Those beyond the limit are told to come again."""
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
    """Paths, states and seconds; no text, and no path that anyone may think of."""
    with serving(every_feed) as client:
        assert client.post("/v1/embeddings", json=BODY).status_code == 200
        assert client.post("/v1/embeddings", json={}).status_code == 422
        assert client.get("/a-secret-path").status_code == 404
        numbers = client.get("/metrics").text
    assert 'polybake_requests_total{path="/v1/embeddings",status="200"} 1.0' in numbers
    assert 'polybake_requests_total{path="other",status="404"} 1.0' in numbers
    assert 'polybake_waiting_tokens{model="every-feed"} 0.0' in numbers
    assert 'polybake_model{fingerprint="' in numbers
    assert [json.loads(line)["status"] for line in lines] == [200, 422, 404, 200]
    assert "secret" not in numbers + "".join(lines)


def test_the_schema_is_there(every_feed: Path) -> None:
    """Without pages that load scripts from elsewhere."""
    with serving(every_feed) as client:
        paths = client.get("/openapi.json").json()["paths"]
        assert {"/v1/embeddings", "/embed", "/v1/rerank", "/health/ready"} <= {*paths}
        assert client.get("/docs").status_code == 404
        assert client.get("/redoc").status_code == 404


def test_a_failure_of_our_own_is_an_answer(
    every_feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the schema of the path, without what stands in the traceback."""

    def fail(*_: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr(Runner, "ids", fail)
    with serving(every_feed, raise_errors=False) as client:
        response = client.post("/v1/embeddings", json=BODY)
        assert response.status_code == 500
        assert "secret" not in response.text
        assert response.json()["error"]["code"] == "backend"
