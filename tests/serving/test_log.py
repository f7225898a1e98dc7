"""What the log, the metrics and a request's id say, and what they never say."""

import json
import logging
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from polybake.serving.log import LOG, Lines
from polybake.serving.work import request_id
from support.servers.service import serving

BODY = {"model": "every-feed", "input": ["a secret text"]}
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACED = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


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


def line(message: object, *arguments: object, error: bool = False) -> dict[str, object]:
    """The parsed line of a log record."""
    caught = sys.exc_info() if error else None
    record = logging.LogRecord("a", logging.WARNING, "a", 1, message, arguments, caught)
    shown = Lines().format(record)
    assert "\n" not in shown
    found: dict[str, object] = json.loads(shown)
    return found


def test_facts_stand_by_name_behind_the_time() -> None:
    """Every line has a time in ISO 8601 with its offset, and facts by name."""
    found = line({"status": 200})
    assert datetime.fromisoformat(str(found.pop("time"))).utcoffset() is not None
    assert found == {"level": "warning", "status": 200}


def test_what_libraries_say_may_quote_callers() -> None:
    """The first line of a message is kept, and an exception's type and place."""
    assert line("Invalid HTTP %s.\na secret", "request")["message"] == "Invalid HTTP request."
    try:
        raise ValueError("a secret")
    except ValueError:
        found = line("failed", error=True)
    assert found["error"] == "ValueError"
    assert "test_log.py" in str(found["traceback"])
    assert "a secret" not in str(found).replace('raise ValueError("a secret")', "")


def test_numbers_and_log(every_feed: Path, lines: list[str]) -> None:
    """Metrics and log have known paths, states and seconds; never texts or other paths."""
    with serving(every_feed) as client:
        assert client.post("/v1/embeddings", json=BODY).status_code == 200
        assert client.post("/v1/embeddings", json={}).status_code == 422
        assert client.get("/a-secret-path").status_code == 404
        numbers = client.get("/metrics").text
        cut = ["a", "b " * 50, "c " * 50]
        client.post("/v1/embeddings", json={**BODY, "input": cut})
        later = client.get("/metrics").text
    for line in (
        'polybake_requests_total{path="/v1/embeddings",status="200"} 1.0',
        'polybake_requests_total{path="other",status="404"} 1.0',
        'polybake_waiting_tokens{model="every-feed"} 0.0',
        'polybake_model{fingerprint="',
        'polybake_texts_total{model="every-feed"} 1.0',
        'polybake_texts_at_limit_total{model="every-feed"} 0.0',
        'polybake_batch_texts_count{model="every-feed"} 1.0',
        'polybake_tokens_total{model="every-feed"} 13.0',
        "polybake_requests_in_flight 1.0",
        "process_resident_memory_bytes",
    ):
        assert line in numbers
    assert 'polybake_texts_total{model="every-feed"} 4.0' in later
    assert 'polybake_texts_at_limit_total{model="every-feed"} 2.0' in later
    told = [json.loads(line) for line in lines]
    assert [line["status"] for line in told] == [200, 422, 404, 200, 200, 200]
    first = told[0]
    assert (first["model"], first["texts"], first["tokens"]) == ("every-feed", 1, 13)
    assert first["milliseconds"] > 0
    assert first["time"].endswith("+00:00")
    assert "secret" not in numbers + "".join(lines)


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


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"X-Request-Id": "a-1.b:2"}, "a-1.b:2"),
        ({"X-Request-Id": "a", **TRACED}, "a"),
        (TRACED, TRACE),
        ({"X-Request-Id": "a b", **TRACED}, TRACE),
    ],
)
def test_the_callers_own_id_is_kept(headers: dict[str, str], expected: str) -> None:
    """X-Request-Id wins over the id of the trace."""
    assert request_id(Headers(headers)) == expected


@pytest.mark.parametrize("given", ["", "a" * 129, "a\tb", '{"a"}', "caf\u00e9"])
def test_another_id_is_made(given: str) -> None:
    """A new id is made if there is none, or one that may not stand in a log."""
    made = [request_id(Headers({"X-Request-Id": given, "traceparent": given})) for _ in range(2)]
    assert made[0] != made[1]
    assert all(len(one) == 32 for one in made)
