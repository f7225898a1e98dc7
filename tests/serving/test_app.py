"""Requests that no endpoint answers are told so in the schema of their path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from models.files.every_feed import write_every_feed_model
from support.servers.service import serving


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with serving(write_every_feed_model(tmp_path_factory.mktemp("m") / "m.onnx")) as client:
        yield client


def test_an_unknown_path(client: TestClient) -> None:
    """The answer has OpenAI's schema under /v1, and text-embeddings-inference's elsewhere."""
    message = "no such path; GET /openapi.json lists all"
    for path, of in (("/v1/chat/completions", openais), ("/chat", inferences)):
        response = client.post(path, json={})
        assert response.status_code == 404
        assert of(response.json()) == message


def test_another_method(client: TestClient) -> None:
    """A wrong method is answered with 405 and the method to send."""
    message = "GET is not for this path; send POST"
    for path, of in (("/v1/embeddings", openais), ("/embed", inferences), ("/v1/rerank", coheres)):
        response = client.get(path)
        assert response.status_code == 405
        assert response.headers["Allow"] == "POST"
        assert of(response.json()) == message


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "Content-Type is missing; send application/json"),
        (
            {"Content-Type": "application/x-www-form-urlencoded"},
            "Content-Type is application/x-www-form-urlencoded; send application/json",
        ),
        (
            {"Content-Type": "application/json", "Content-Encoding": "gzip"},
            "Content-Encoding is gzip; send the body as it is",
        ),
    ],
)
def test_bodies_of_another_kind(client: TestClient, headers: dict[str, str], message: str) -> None:
    """The answer names the header that is wrong or missing."""
    response = client.post("/v1/embeddings", content=b"{}", headers=headers)
    assert response.status_code == 415
    assert openais(response.json()) == message


def test_what_is_no_json(client: TestClient) -> None:
    """A damaged body is called invalid JSON, not a body with missing fields."""
    headers = {"Content-Type": "application/json; charset=utf-8"}
    response = client.post("/v1/embeddings", content=b"{'a'", headers=headers)
    assert response.status_code == 400
    assert openais(response.json()).startswith("the body is no valid JSON (")


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/v1/embeddings", {"dimension": 3}, "(did you mean dimensions?)"),
        ("/embed", {"input": "a"}, "(did you mean inputs?)"),
    ],
)
def test_keys_that_nothing_knows(
    client: TestClient, path: str, body: dict[str, object], message: str
) -> None:
    """An unknown key is named with the nearest known one."""
    response = client.post(path, json=body)
    assert response.status_code == 422
    answer = response.json()
    assert (openais if path.startswith("/v1") else inferences)(answer).endswith(message)


def openais(answer: dict[str, dict[str, str]]) -> str:
    assert answer["error"]["type"] == "invalid_request_error"
    return answer["error"]["message"]


def inferences(answer: dict[str, str]) -> str:
    assert {*answer} == {"error", "error_type"}
    return answer["error"]


def coheres(answer: dict[str, str]) -> str:
    assert {*answer} == {"message"}
    return answer["message"]
