"""What the clients of OpenAI, text-embeddings-inference and Cohere are answered."""

import asyncio
import base64
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from models.files.every_feed import write_every_feed_model
from polybake.base.modelfile.container import read_head
from polybake.runtime.embedder import Embedder
from polybake.runtime.tokenizer import BakedTokenizer
from support.servers.service import serving

TEXTS = ["Hello, world", "", "two words"]
DOCUMENTS = ["one", "another", "a third of them"]


def ask(client: TestClient, path: str, **body: object) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def embedded(client: TestClient, **body: object) -> np.ndarray:
    """The vectors of OpenAI's answer, in the order of the texts."""
    data = ask(client, "/v1/embeddings", model="every-feed", **body)["data"]
    assert [one["index"] for one in data] == [*range(len(data))]
    return np.array([one["embedding"] for one in data], np.float32)


def golden(embedder: Embedder) -> Iterator[tuple[dict[str, Any], Any]]:
    """The calls and answers of a file's golden cases."""
    for case in read_head(embedder.path).fixture.cases:
        if case.call is not None:
            yield case.call, case.answer


def test_texts_have_the_vectors_of_the_file(
    client: TestClient, embedders: dict[str, Embedder]
) -> None:
    """Of one text, several, or token ids; usage is the number of tokens."""
    embedder = embedders["embed"]
    expected, rows = embedder.embed(TEXTS), embedder.tokenize(TEXTS)
    for path, key in (("/v1/embeddings", "input"), ("/embed", "inputs")):
        body = {"model": "every-feed"} if key == "input" else {}
        for given, vectors in ((TEXTS, expected), (TEXTS[0], expected[:1]), (rows, expected)):
            answer = ask(client, path, **body, **{key: given})
            found = [one["embedding"] for one in answer["data"]] if body else answer
            np.testing.assert_allclose(found, vectors, atol=1e-6)
    np.testing.assert_allclose(embedded(client, input=rows[0]), expected[:1], atol=1e-6)
    response = client.post("/v1/embeddings", json={"model": "every-feed", "input": TEXTS})
    assert response.headers["X-Polybake-Fingerprint"] == embedder.manifest.fingerprint
    answer, tokens = response.json(), sum(map(len, rows))
    assert answer["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    assert (answer["object"], answer["model"]) == ("list", "every-feed")
    assert [*answer["data"][0]] == ["object", "index", "embedding"]


def test_base64_is_of_float32(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Base64 holds float32, which the official clients ask for by default."""
    body = {"model": "every-feed", "input": ["a"], "encoding_format": "base64"}
    (one,) = ask(client, "/v1/embeddings", **body)["data"]
    found = np.frombuffer(base64.b64decode(one["embedding"]), "<f4")
    np.testing.assert_array_equal(found, embedders["embed"].embed(["a"])[0])


@pytest.mark.parametrize("name", ["query", "document"])
def test_prompts_by_name_and_by_role(
    client: TestClient, embedders: dict[str, Embedder], name: str
) -> None:
    """A prompt may be named, or chosen by role as in the generated clients."""
    more = {"normalize": False, "truncate": True}
    for found in (
        embedded(client, input=TEXTS, prompt_name=name),
        embedded(client, input=TEXTS, input_type=name),
        ask(client, "/embed", inputs=TEXTS, prompt_name=name, **more),
    ):
        expected = embedders["embed"].embed(TEXTS, prompt=name)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_role_without_a_prompt_has_none(tmp_path: Path) -> None:
    """The default prompt belongs to the other role, so it is not used."""
    path = write_every_feed_model(
        tmp_path / "m.onnx", prompts={"query": "query: "}, default_prompt="query"
    )
    with serving(path) as client:
        default = embedded(client, input=TEXTS)
        document = embedded(client, input=TEXTS, input_type="document")
    np.testing.assert_allclose(default, Embedder(path).embed(TEXTS), atol=1e-6)
    assert not np.allclose(default, document)


def test_fewer_dimensions_of_a_matryoshka_model(every_feed: Path) -> None:
    """Vectors are cut only if the operator says that the model allows it."""
    with serving(every_feed, matryoshka=True) as client:
        found = embedded(client, input=TEXTS, dimensions=3)
    np.testing.assert_allclose(found, Embedder(every_feed).embed(TEXTS)[:, :3], atol=1e-6)


def test_each_model_says_what_it_is(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """All are listed, and one is asked for by its name."""
    models = client.get("/v1/models").json()["data"]
    assert {one["id"] for one in models} == {one.manifest.name for one in embedders.values()}
    assert {one["object"] for one in models} == {"model"}
    assert client.get("/info", params={"model": "no"}).status_code == 404
    facts = client.get("/info", params={"model": "every-feed"}).json()
    assert facts["model_sha"] == embedders["embed"].manifest.fingerprint
    assert (facts["max_input_length"], facts["max_client_batch_size"]) == (16, 2048)


def test_every_token_has_a_vector(client: TestClient, embedders: dict[str, Embedder]) -> None:
    runner = embedders["multi-vector"].runner
    for text, vectors in zip(TEXTS, ask(client, "/embed_all", inputs=TEXTS), strict=True):
        (expected,) = runner.of_each(runner.ids([text]))
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_only_weights_that_are_not_0_are_sent(
    client: TestClient, embedders: dict[str, Embedder]
) -> None:
    found = ask(client, "/embed_sparse", inputs=TEXTS)
    for row, weights in zip(embedders["sparse"].embed(TEXTS), found, strict=True):
        assert [one["index"] for one in weights] == np.flatnonzero(row).tolist()
        np.testing.assert_allclose([one["value"] for one in weights], row[row != 0], atol=1e-6)


def test_labels_come_best_first(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """As in every client, for one text or a batch."""
    for call, answer in golden(embedders["classify"]):
        found = ask(client, "/predict", inputs=[[text] for text in call["texts"]])
        for labels, expected in zip(found, answer, strict=True):
            assert [one["label"] for one in labels] == [one["label"] for one in expected]
            scores = [one["score"] for one in expected]
            assert [one["score"] for one in labels] == pytest.approx(scores, abs=1e-5)
        one = ask(client, "/predict", inputs=call["texts"][0])
        assert [label["label"] for label in one] == [label["label"] for label in found[0]]


def test_texts_come_best_first(client: TestClient, embedders: dict[str, Embedder]) -> None:
    """Their places, with the texts if these are wanted."""
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


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_documents_of_coheres_clients(
    client: TestClient, embedders: dict[str, Embedder], version: str
) -> None:
    """Documents may be strings or objects, and top_n limits the answer."""
    scores = embedders["rerank"].embed([("a query", text) for text in DOCUMENTS])[:, 0]
    documents = [*DOCUMENTS[:2], {"text": DOCUMENTS[2]}]
    body = {"model": "tiny-rerank", "query": "a query", "documents": documents}
    answer = ask(client, f"/{version}/rerank", **body, return_documents=True)
    assert [one["index"] for one in answer["results"]] == [*(-scores).argsort(kind="stable")]
    for one in answer["results"]:
        assert one["relevance_score"] == pytest.approx(float(scores[one["index"]]), abs=1e-6)
        assert one["document"] == {"text": DOCUMENTS[one["index"]]}
    (best,) = ask(client, f"/{version}/rerank", **body, top_n=1)["results"]
    assert best["index"] == int(scores.argmax())
    assert "document" not in best
    assert answer["meta"]["tokens"]["input_tokens"] > 10


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
