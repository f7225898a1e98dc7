"""polybake serve: a process that listens, from start to end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import numpy as np
import pytest

from polybake import __version__
from polybake.runtime.embedder import Embedder
from support.processes.signals import posix, signals
from support.samples.weekly import weekly_but
from support.servers.served import Service, key_file, served

pytestmark = pytest.mark.slow

TEXTS = ["Hello, world", "", "two words"]


@pytest.fixture(scope="module")
def both(every_feed: Path, tiny_rerank: Path) -> Iterator[Service]:
    """A service of two models."""
    with served(every_feed, tiny_rerank) as service:
        yield service


def wait_for(requests: int, service: Service) -> None:
    """Wait until so many requests are at work, besides the one that asks."""
    at_work = f"polybake_requests_in_flight {requests + 1}.0"
    for _ in range(1000):
        if at_work in httpx.get(f"{service.url}/metrics").text:
            return
        time.sleep(0.01)
    raise AssertionError(at_work)


def test_openais_own_client(every_feed: Path, tmp_path: Path) -> None:
    """OpenAI's unchanged client gets vectors, lists of models and errors, with an API key."""
    openai = pytest.importorskip("openai")
    embedder = Embedder(every_feed)
    keys = key_file(tmp_path / "keys", "\ufefftwo", "one")  # with the BOM of Windows' editors
    with served(every_feed, "--api-key-file", keys, "--matryoshka", "every-feed") as service:
        client = openai.OpenAI(base_url=f"{service.url}/v1", api_key="two", max_retries=0)
        assert [model.id for model in client.models.list()] == ["every-feed"]
        for encoding in (openai.NOT_GIVEN, "float", "base64"):
            found = client.embeddings.create(
                model="every-feed", input=TEXTS, encoding_format=encoding
            )
            if encoding != "base64":
                vectors = np.array([one.embedding for one in found.data], np.float32)
                np.testing.assert_allclose(vectors, embedder.embed(TEXTS), atol=1e-6)
            assert found.usage.prompt_tokens == sum(map(len, embedder.tokenize(TEXTS)))
        cut = client.embeddings.create(model="every-feed", input="a", dimensions=3)
        np.testing.assert_allclose(cut.data[0].embedding, embedder.embed(["a"])[0, :3], atol=1e-6)
        query = client.embeddings.create(
            model="every-feed", input="a", extra_body={"input_type": "query"}
        )
        expected = embedder.embed(["a"], prompt="query")[0]
        np.testing.assert_allclose(query.data[0].embedding, expected, atol=1e-6)
        with pytest.raises(openai.NotFoundError, match="unknown model 'no'"):
            client.embeddings.create(model="no", input="a")
        stranger = openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0)
        with pytest.raises(openai.AuthenticationError, match="no valid key"):
            stranger.models.list()


NODE = """
import OpenAI from "openai";
const client = new OpenAI({ baseURL: process.env.URL, apiKey: "any", maxRetries: 0 });
const input = JSON.parse(process.env.TEXTS);
const { data, usage } = await client.embeddings.create({ model: "every-feed", input });
const refused = await client.embeddings.create({ model: "no", input }).catch((error) => error);
const vectors = data.map(({ embedding }) => Array.from(embedding));
console.log(JSON.stringify({ vectors, usage, status: refused.status }));
"""


@pytest.mark.node
def test_openais_own_client_for_node(both: Service, every_feed: Path, tmp_path: Path) -> None:
    """OpenAI's client for Node, which asks for base64, gets its vectors."""
    subprocess.run(["npm", "install", "--silent", "openai"], cwd=tmp_path, check=True)
    (tmp_path / "ask.mjs").write_text(NODE)
    embedder = Embedder(every_feed)
    settings = {"URL": f"{both.url}/v1", "TEXTS": json.dumps(TEXTS)}
    told = subprocess.check_output(
        ["node", "ask.mjs"], cwd=tmp_path, env={**os.environ, **settings}
    )
    found = json.loads(told)
    np.testing.assert_allclose(found["vectors"], embedder.embed(TEXTS), atol=1e-6)
    assert found["usage"]["total_tokens"] == sum(map(len, embedder.tokenize(TEXTS)))
    assert found["status"] == 404


@pytest.mark.weekly
def test_hugging_faces_own_client(both: Service, every_feed: Path) -> None:
    """Hugging Face's client asks the root, for one text at a time."""
    hub = pytest.importorskip("huggingface_hub")
    found = hub.InferenceClient(both.url).feature_extraction("two words")
    np.testing.assert_allclose(found, Embedder(every_feed).embed(["two words"]), atol=1e-6)


@pytest.mark.weekly
def test_coheres_own_client(both: Service, tiny_rerank: Path) -> None:
    """Cohere's client ranks through both versions of its interface."""
    cohere = pytest.importorskip("cohere")
    asked = {"model": "tiny-rerank", "query": "a", "documents": ["b", "c", "d"], "top_n": 2}
    scores = Embedder(tiny_rerank).embed([("a", "b"), ("a", "c"), ("a", "d")])[:, 0]
    best = np.argsort(-scores, kind="stable")[:2]
    client = {"api_key": "any", "base_url": both.url}
    ranked = cohere.ClientV2(**client).rerank(**asked).results
    older = cohere.Client(**client).rerank(**asked, return_documents=True).results
    assert [one.index for one in ranked] == [one.index for one in older] == best.tolist()
    np.testing.assert_allclose([one.relevance_score for one in ranked], scores[best], atol=1e-6)
    assert [one.document.text for one in older] == [asked["documents"][one] for one in best]


def test_several_models(both: Service) -> None:
    """Each model is asked by name, and a wrong one lists those that fit the path."""
    with httpx.Client(base_url=both.url) as client:
        assert len(client.get("/v1/models").json()["data"]) == 2
        body = {"query": "a", "texts": ["b", "c"]}
        assert len(client.post("/rerank", json=body).json()) == 2
        body = {"model": "tiny-rerank", "input": "a"}
        message = client.post("/v1/embeddings", json=body).json()["error"]["message"]
    assert message == "unknown model 'tiny-rerank'; choose one of: every-feed"


def test_answers_come_at_once(both: Service) -> None:
    """No answer on a connection that stays open waits 40 ms for a delayed packet."""
    took = []
    with httpx.Client(base_url=both.url) as client:
        for _ in range(20):
            started = time.perf_counter()
            client.get("/health/live")
            took.append(time.perf_counter() - started)
    assert sorted(took)[5] < 0.03


@pytest.mark.parametrize("name", weekly_but(1, signals("SIGTERM", "SIGHUP")))
def test_a_signal_ends_it_when_all_is_answered(every_feed: Path, name: str) -> None:
    """Requests that were accepted are answered; later ones are not accepted."""
    with (
        served(every_feed, "--wait-ms", "2000") as service,
        ThreadPoolExecutor(8) as pool,
        httpx.Client(base_url=service.url) as client,
    ):
        body = {"model": "every-feed", "input": "a"}  # a batch that is not full waits for others
        asked = [pool.submit(client.post, "/v1/embeddings", json=body) for _ in range(8)]
        wait_for(8, service)
        assert service.ended(getattr(signal, name)) == 0
        answers = [one.result().json()["data"] for one in asked]
        assert [len(answer) for answer in answers] == [1] * 8
        with pytest.raises(httpx.ConnectError):
            client.get("/health/live")
    assert "Traceback" not in "".join(service.log)


@pytest.mark.weekly
@posix
def test_what_a_drain_leaves_is_told_to_ask_again(every_feed: Path) -> None:
    """Unanswered requests get 503 and Retry-After in their path's schema; the log has no error."""
    body = {"model": "every-feed", "input": "a"}
    with (
        served(every_feed, "--drain", "0", "--wait-ms", "3000") as service,
        ThreadPoolExecutor(4) as pool,
    ):
        url = f"{service.url}/v1/embeddings"
        asked = [pool.submit(httpx.post, url, json=body) for _ in range(4)]
        wait_for(4, service)
        assert service.ended(signal.SIGTERM) == 0
        for one in asked:
            answer = one.result()
            assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1")
            assert answer.json()["error"]["message"] == "the service ends; ask again"
    told = [json.loads(line) for line in service.log]
    asked_for = [line["status"] for line in told if line.get("path") == "/v1/embeddings"]
    assert asked_for == [503] * 4
    assert not any("traceback" in line for line in told)


@pytest.mark.weekly
@posix
def test_killed_and_started_again(every_feed: Path) -> None:
    """Callers that ask again get every vector, and each is the right one."""
    embedder = Embedder(every_feed)
    texts = [f"text {place}" for place in range(24)]
    expected = embedder.embed(texts)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def ask(place: int) -> list[float]:
        body = {"model": "every-feed", "input": texts[place]}
        for _ in range(200):
            try:
                url = f"http://127.0.0.1:{port}/v1/embeddings"
                answer = httpx.post(url, json=body, timeout=5)
                found: list[float] = answer.raise_for_status().json()["data"][0]["embedding"]
            except httpx.HTTPError:
                time.sleep(0.1)
            else:
                return found
        raise AssertionError(texts[place])

    with ThreadPoolExecutor(4) as pool:
        with served(every_feed, "--wait-ms", "100", port=port) as service:
            asked = [pool.submit(ask, place) for place in range(24)]
            wait(asked, return_when="FIRST_COMPLETED")
            assert service.ended(signal.SIGKILL) == -signal.SIGKILL
        assert not all(one.done() for one in asked)
        with served(every_feed, port=port):
            found = np.array([one.result() for one in asked])
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.weekly
@posix
def test_the_log_is_json_without_texts(every_feed: Path) -> None:
    """The log has one line of JSON a request, and the server's own messages are JSON, too."""
    with served(every_feed) as service:
        body = {"model": "every-feed", "input": "a secret"}
        assert httpx.post(f"{service.url}/v1/embeddings", json=body).status_code == 200
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as one:
            one.sendall(b"no HTTP at all\r\n\r\n")
            assert one.recv(1000).startswith(b"HTTP/1.1 400")
        assert service.ended(signal.SIGINT) == 0
    assert "secret" not in "".join(service.log)
    start, request, invalid = map(json.loads, service.log)
    assert (start["listening"], start["version"]) == (service.url, __version__)
    assert start["models"] == {"every-feed": Embedder(every_feed).manifest.fingerprint}
    assert request["path"] == "/v1/embeddings"
    assert invalid["message"] == "Invalid HTTP request received."
