"""The requests of text-embeddings-inference's clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from models.files.every_feed import write_every_feed_model
from models.files.task_models import TASK_MODELS
from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder
from polybake.runtime.tokenization.tokenizer import BakedTokenizer
from support.servers.service import serving

TASKS = ("classify", "multi-vector", "rerank", "sparse")


@pytest.fixture(scope="module")
def embedders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Embedder]:
    folder = tmp_path_factory.mktemp("models")
    paths = {task: TASK_MODELS[task](folder / f"tiny-{task}.onnx") for task in TASKS}
    paths["embed"] = write_every_feed_model(folder / "every-feed.onnx")
    return {task: Embedder(path) for task, path in paths.items()}


@pytest.fixture(scope="module")
def client(embedders: dict[str, Embedder]) -> Iterator[TestClient]:
    with serving(*(embedder.path for embedder in embedders.values())) as client:
        yield client


def ask(client: TestClient, path: str, **body: object) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def golden(embedder: Embedder) -> Iterator[tuple[dict[str, Any], Any]]:
    """The calls and answers of a file's golden cases."""
    for case in read_head(embedder.path).fixture.cases:
        if case.call is not None:
            yield case.call, case.answer


def test_embed(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """One text, several, or token ids are embedded, with prompts by name."""
    embedder = embedders["embed"]
    expected = embedder.embed(["a", "two words"])
    found = ask(client, "/embed", inputs=["a", "two words"])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(ask(client, "/embed", inputs="a"), expected[:1], atol=1e-6)
    rows = embedder.tokenize(["a", "two words"])
    np.testing.assert_allclose(ask(client, "/embed", inputs=rows), expected, atol=1e-6)
    query = ask(client, "/embed", inputs="a", prompt_name="query", normalize=False, truncate=True)
    np.testing.assert_allclose(query, embedder.embed(["a"], prompt="query"), atol=1e-6)


def test_embed_all(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Every token of a text has a vector."""
    texts = ["a short text", "another"]
    found = ask(client, "/embed_all", inputs=texts)
    runner = embedders["multi-vector"].runner
    for text, vectors in zip(texts, found, strict=True):
        (expected,) = runner.of_each(runner.ids([text]))
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_embed_sparse(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Only weights that are not 0 are sent."""
    texts = ["a short text", "another"]
    expected = embedders["sparse"].embed(texts)
    for row, weights in zip(expected, ask(client, "/embed_sparse", inputs=texts), strict=True):
        assert [one["index"] for one in weights] == np.flatnonzero(row).tolist()
        np.testing.assert_allclose([one["value"] for one in weights], row[row != 0], atol=1e-6)


def test_predict(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Labels come best first, as in every client, for one text or a batch."""
    for call, answer in golden(embedders["classify"]):
        found = ask(client, "/predict", inputs=[[text] for text in call["texts"]])
        for labels, expected in zip(found, answer, strict=True):
            assert [one["label"] for one in labels] == [one["label"] for one in expected]
            scores = [one["score"] for one in expected]
            assert [one["score"] for one in labels] == pytest.approx(scores, abs=1e-5)
        one = ask(client, "/predict", inputs=call["texts"][0])
        assert [label["label"] for label in one] == [label["label"] for label in found[0]]


def test_rerank(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Places come best first, with the texts if these are wanted."""
    for call, answer in golden(embedders["rerank"]):
        texts = call["documents"]
        found = ask(client, "/rerank", query=call["query"], texts=texts, return_text=True)
        scores = {one["index"]: one["score"] for one in answer}
        assert {one["index"] for one in found} == {*scores}
        for one in found:
            assert one["text"] == texts[one["index"]]
            assert one["score"] == pytest.approx(scores[one["index"]], abs=1e-5)
        given = [one["score"] for one in found]
        assert given == sorted(given, reverse=True)
    assert "text" not in ask(client, "/rerank", query="a", texts=["b"])[0]


def test_info(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """A model is asked for by its name, and an unknown name gives 404."""
    assert client.get("/info", params={"model": "no"}).status_code == 404
    facts = client.get("/info", params={"model": "every-feed"}).json()
    assert facts["model_sha"] == embedders["embed"].manifest.fingerprint
    assert (facts["max_input_length"], facts["max_client_batch_size"]) == (16, 2048)


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/embed", {"inputs": "a", "normalize": True}, "the vectors of every-feed are not norm"),
        (
            "/embed",
            {"inputs": "a", "truncation_direction": "Left"},
            "every-feed cuts texts on the right; leave truncation_direction out",
        ),
        (
            "/embed",
            {"inputs": ["a", "b " * 20], "truncate": False},
            "text 1 has 22 tokens; expected 16 or less, or truncate",
        ),
        (
            "/embed",
            {"inputs": "b " * 14, "prompt_name": "query", "truncate": False},
            "text 0 has 22 tokens; expected 16 or less, or truncate",
        ),
        (
            "/predict",
            {"inputs": [["a"], ["word " * 500]], "truncate": False},
            "text 1 has 2002 tokens; expected 32 or less, or truncate",
        ),
        (
            "/rerank",
            {"query": "a", "texts": ["b", "word " * 500], "truncate": False},
            "text 1 has 2004 tokens; expected 32 or less, or truncate",
        ),
        (
            "/rerank",
            {"query": "a", "texts": ["b"], "truncation_direction": "left"},
            "tiny-rerank cuts texts on the right; leave truncation_direction out",
        ),
        ("/embed", {"inputs": [[]]}, "text 0 has no token ids; leave it out"),
        ("/predict", {"inputs": [["a", "b"]]}, "tiny-classify takes single texts, not pairs"),
        ("/predict", {"inputs": "a", "raw_scores": True}, "tiny-classify holds its activation; "),
        (
            "/rerank",
            {"query": "a", "texts": ["b"], "raw_scores": True},
            "tiny-rerank holds its activation",
        ),
        ("/rerank", {"query": "a", "texts": []}, "0 texts; expected 1 to 2048"),
        ("/embed", {"inputs": 1}, "inputs"),
        (
            "/embed",
            {"inputs": [[2, 3]], "prompt_name": "query"},
            "token ids hold their prompt; leave prompt and type out",
        ),
    ],
)
def test_what_is_refused(
    client: TestClient, path: str, body: dict[str, object], message: str
) -> None:
    """A request cannot change what the file decides."""
    response = client.post(path, json=body)
    assert response.status_code == 422, response.text
    assert response.json()["error"].startswith(message), response.text
    assert response.json()["error_type"] == "validation"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/embed", {"inputs": "b " * 14}),
        ("/embed", {"inputs": "b " * 6, "prompt_name": "query"}),
        ("/rerank", {"query": "a", "texts": ["b"], "truncation_direction": "right"}),
    ],
)
def test_a_text_that_just_fits_is_not_refused(
    client: TestClient, path: str, body: dict[str, object]
) -> None:
    """A text that fills the window with its prompt is accepted."""
    ask(client, path, **body, truncate=False)


@pytest.mark.parametrize("path", ["/embed", "/predict"])
def test_too_many_texts_are_refused_before_one_is_tokenized(
    client: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tokenizing a request that is refused anyway would take seconds."""
    monkeypatch.setattr(BakedTokenizer, "count", None)
    monkeypatch.setattr(BakedTokenizer, "encode", None)
    texts = ["a"] * 2049
    inputs = texts if path == "/embed" else [[text] for text in texts]
    response = client.post(path, json={"inputs": inputs, "truncate": False})
    assert (response.status_code, response.json()["error"]) == (
        413,
        "2049 texts; expected 1 to 2048",
    )


def test_tokens_are_counted_beside_the_loop(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting runs on another thread, so that health checks are answered meanwhile."""
    threads = set[threading.Thread]()
    count = BakedTokenizer.count

    def counted(self: BakedTokenizer, text: str) -> int:
        threads.add(threading.current_thread())
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return count(self, text)

    monkeypatch.setattr(BakedTokenizer, "count", counted)
    assert client.post("/embed", json={"inputs": "b " * 20, "truncate": False}).status_code == 422
    assert threads


def test_a_task_that_is_not_served(embedders: dict[str, Embedder]) -> None:
    """The message says which tasks are served."""
    with serving(embedders["rerank"].path) as client:
        response = client.post("/embed", json={"inputs": "a"})
        assert response.status_code == 404
        assert response.json()["error"] == (
            "no model here is for the task 'embed', but for rerank; serve one that is"
        )
