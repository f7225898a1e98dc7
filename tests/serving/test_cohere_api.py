"""The requests of Cohere's clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from models.files.task_models import TASK_MODELS
from polybake.runtime.embedder import Embedder
from support.servers.service import serving

DOCUMENTS = ["one", "another", "a third of them"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return TASK_MODELS["rerank"](tmp_path_factory.mktemp("m") / "tiny.onnx")


@pytest.fixture(scope="module")
def client(path: Path) -> Iterator[TestClient]:
    with serving(path) as client:
        yield client


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_documents_in_their_order(client: TestClient, path: Path, version: str) -> None:
    """Documents may be strings or objects, and top_n limits the answer."""
    embedder = Embedder(path)
    scores = embedder.embed([("a query", text) for text in DOCUMENTS])[:, 0]
    documents = [*DOCUMENTS[:2], {"text": DOCUMENTS[2]}]
    body = {"model": embedder.manifest.name, "query": "a query", "documents": documents}
    answer = client.post(f"/{version}/rerank", json=body | {"return_documents": True}).json()
    assert [one["index"] for one in answer["results"]] == [*(-scores).argsort(kind="stable")]
    for one in answer["results"]:
        assert one["relevance_score"] == pytest.approx(float(scores[one["index"]]), abs=1e-6)
        assert one["document"] == {"text": DOCUMENTS[one["index"]]}
    best = client.post(f"/{version}/rerank", json=body | {"top_n": 1}).json()["results"]
    assert [one["index"] for one in best] == [int(scores.argmax())]
    assert "document" not in best[0]
    assert answer["meta"]["tokens"]["input_tokens"] > 10


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_is_refused(client: TestClient, version: str) -> None:
    """Errors have a message, in the form of Cohere's own."""
    body = {"model": "tiny", "query": "a", "documents": ["b"], "top_n": 0}
    response = client.post(f"/{version}/rerank", json=body)
    assert response.status_code == 422
    assert response.json() == {"message": "top_n: Input should be greater than 0"}
    body = {"model": "no", "query": "a", "documents": ["b"]}
    unknown = client.post(f"/{version}/rerank", json=body)
    assert unknown.json() == {"message": "unknown model 'no'; choose one of: tiny"}
