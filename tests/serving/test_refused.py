"""Requests that get no answer are told why in one line, in the schema of their path."""

import json
from pathlib import Path

import pytest
from httpx import Response
from starlette.testclient import TestClient

from polybake.runtime.embedder import Embedder
from polybake.runtime.tokenizer import BakedTokenizer
from support.servers.service import serving

JSON = {"Content-Type": "application/json; charset=utf-8"}
OURS = {"model": "every-feed"}
ONE = {"input": "a", **OURS}
PAIR = {"query": "a", "texts": ["b"]}
RANK = {"model": "tiny-rerank", "query": "a", "documents": ["b"]}
LONG = "word " * 500
WHOLE = {"truncate": False}
LACKS = (
    "text 0 lacks the special tokens of every-feed's tokenizer; expected token ids [2, ..., 3], or "
    "send texts (LangChain's OpenAIEmbeddings: check_embedding_ctx_length=False)"
)
PROMPTS = "unknown prompt 'no'; choose one of: query, document"
ROLES = "prompt_name and input_type exclude each other; give one"
HELD = "token ids hold their prompt; leave prompt and type out"
TASK = "no model here is for the task 'embed', but for rerank; serve one that is"


def message(answer: Response) -> str:
    """What is wrong, in OpenAI's, Cohere's or text-embeddings-inference's schema."""
    path, told = answer.url.path, answer.json()
    if path.startswith("/v") and path.endswith("rerank"):
        assert {*told} == {"message"}
        return str(told["message"])
    if path.startswith("/v"):
        assert told["error"]["type"] == "invalid_request_error"
        return str(told["error"]["message"])
    assert {*told} == {"error", "error_type"}
    assert told["error_type"] == "validation" or answer.status_code == 404
    return str(told["error"])


EMBEDDINGS = [
    ({**ONE, "model": "no"}, 404, "unknown model 'no'; choose one of: every-feed"),
    ({"input": "a"}, 422, "model: Field required"),
    ({**OURS, "input": []}, 422, "0 texts; expected 1 to 2048"),
    ({**OURS, "input": [[1, 999]]}, 422, "text 0 has the token id 999; "),
    ({**OURS, "input": [[2, 5, 3], []]}, 422, "text 1 has no token ids; leave it out"),
    ({**OURS, "input": [5, 6]}, 422, LACKS),
    ({**OURS, "input": [[2, 5, 3], [2, 5]]}, 422, "text 1 lacks the special"),
    ({**OURS, "input": [[3]]}, 422, "text 0 lacks the special"),
    ({**OURS, "input": [[1] * 17]}, 422, "text 0 has 17 tokens; expected 16 or"),
    ({**OURS, "input": ["a"] * 2049}, 413, "2049 texts; expected 1 to 2048"),
    ({**ONE, "dimensions": 3}, 422, "dimensions is 3; expected 7"),
    ({**ONE, "prompt_name": "no"}, 422, PROMPTS),
    ({**ONE, "prompt_name": "query", "input_type": "query"}, 422, ROLES),
    ({**OURS, "input": [[1]], "input_type": "query"}, 422, HELD),
    ({"dimension": 3}, 422, "'dimension': unknown key; choose one of"),
    (b"{'a'", 400, "the body is no valid JSON ("),
    (b'["\\ud800"]', 422, "a text is not valid Unicode; repair or drop it"),
]
INFERENCE = [
    ("embed", {"inputs": "a", "normalize": True}, "the vectors of every-feed are not norm"),
    ("embed", {"inputs": "a", "truncation_direction": "Left"}, "every-feed cuts texts on the r"),
    ("embed", {"inputs": ["a", "b " * 20], **WHOLE}, "text 1 has 22 tokens; expected 16 or less"),
    ("embed", {"inputs": "b " * 14, "prompt_name": "query", **WHOLE}, "text 0 has 22 tokens"),
    ("embed", {"inputs": [[]]}, "text 0 has no token ids; leave it out"),
    ("embed", {"inputs": 1}, "inputs"),
    ("embed", {"inputs": [[2, 3]], "prompt_name": "query"}, HELD),
    ("embed", {"input": "a"}, "'input': unknown key; choose one of"),
    ("predict", {"inputs": [["a"], [LONG]], **WHOLE}, "text 1 has 2002 tokens; expected 32"),
    ("predict", {"inputs": [["a", "b"]]}, "tiny-classify takes single texts, not pairs"),
    ("predict", {"inputs": "a", "raw_scores": True}, "tiny-classify holds its activation; "),
    ("rerank", {"query": "a", "texts": ["b", LONG], **WHOLE}, "text 1 has 2004 tokens"),
    ("rerank", {**PAIR, "truncation_direction": "left"}, "tiny-rerank cuts texts on the right"),
    ("rerank", {**PAIR, "raw_scores": True}, "tiny-rerank holds its activation"),
    ("rerank", {**PAIR, "texts": []}, "0 texts; expected 1 to 2048"),
]
COHERE = [
    ({**RANK, "top_n": 0}, 422, "top_n: Input should be greater than 0"),
    ({**RANK, "model": "no"}, 404, "unknown model 'no'; choose one of: tiny-rerank"),
]
BODIES = [
    *(("/v1/embeddings", *case) for case in EMBEDDINGS),
    *((f"/{path}", body, 422, shown) for path, body, shown in INFERENCE),
    *((f"/{version}/rerank", *case) for version in ("v1", "v2") for case in COHERE),
    *((path, {}, 404, "no such path; GET /openapi.json") for path in ("/v1/chat", "/chat")),
]


@pytest.mark.parametrize(("path", "body", "status", "shown"), BODIES)
def test_a_request_cannot_change_what_the_file_decides(
    client: TestClient, path: str, body: dict[str, object] | bytes, status: int, shown: str
) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body)
    response = client.post(path, content=content, headers=JSON)
    assert response.status_code == status, response.text
    assert shown in message(response)


@pytest.mark.parametrize("path", ["/v1/embeddings", "/embed", "/v1/rerank"])
def test_another_method(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert message(response) == "GET is not for this path; send POST"


@pytest.mark.parametrize(
    ("headers", "shown"),
    [
        ({}, "Content-Type is missing; send application/json"),
        ({"Content-Type": "text/plain"}, "Content-Type is text/plain; send application/json"),
        ({**JSON, "Content-Encoding": "gzip"}, "Content-Encoding is gzip; send the body as it is"),
    ],
)
def test_bodies_of_another_kind(client: TestClient, headers: dict[str, str], shown: str) -> None:
    response = client.post("/v1/embeddings", content=b"{}", headers=headers)
    assert (response.status_code, message(response)) == (415, shown)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/embed", {"inputs": "b " * 14}),
        ("/embed", {"inputs": "b " * 6, "prompt_name": "query"}),
        ("/rerank", {**PAIR, "truncation_direction": "right"}),
    ],
)
def test_a_text_that_just_fits_is_not_refused(
    client: TestClient, path: str, body: dict[str, object]
) -> None:
    """A text that fills the window with its prompt is accepted."""
    assert client.post(path, json={**body, **WHOLE}).status_code == 200


@pytest.mark.parametrize("path", ["/embed", "/predict"])
def test_too_many_texts_are_refused_before_one_is_tokenized(
    client: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokenizing a request that is refused anyway would take seconds."""
    monkeypatch.setattr(BakedTokenizer, "count", None)
    monkeypatch.setattr(BakedTokenizer, "encode", None)
    inputs = ["a"] * 2049 if path == "/embed" else [["a"]] * 2049
    response = client.post(path, json={"inputs": inputs, **WHOLE})
    assert (response.status_code, message(response)) == (413, "2049 texts; expected 1 to 2048")


def test_a_task_that_is_not_served(embedders: dict[str, Embedder]) -> None:
    with serving(embedders["rerank"].path) as client:
        response = client.post("/embed", json={"inputs": "a"})
    assert (response.status_code, message(response)) == (404, TASK)


def test_more_dimensions_than_there_are(every_feed: Path) -> None:
    with serving(every_feed, matryoshka=True) as client:
        response = client.post("/v1/embeddings", json={**ONE, "dimensions": 8})
    assert message(response) == "dimensions is 8; expected 7 or less"
