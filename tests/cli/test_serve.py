"""polybake serve: a process that listens, from start to end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

from models.files.every_feed import rows, write_every_feed_model
from models.files.quantized_feed import DIMENSION
from models.files.task_models import TASK_MODELS
from polybake import __version__
from polybake.runtime.embedder import Embedder
from support.processes.commandline import polybake
from support.servers.served import key_file, served

pytestmark = pytest.mark.slow

TEXTS = ["Hello, world", "", "two words"]


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
def test_openais_own_client_for_node(every_feed: Path, tmp_path: Path) -> None:
    """OpenAI's client for Node, which asks for base64, gets its vectors."""
    subprocess.run(["npm", "install", "--silent", "openai"], cwd=tmp_path, check=True)
    (tmp_path / "ask.mjs").write_text(NODE)
    embedder = Embedder(every_feed)
    with served(every_feed) as service:
        settings = {"URL": f"{service.url}/v1", "TEXTS": json.dumps(TEXTS)}
        told = subprocess.check_output(
            ["node", "ask.mjs"], cwd=tmp_path, env={**os.environ, **settings}
        )
    found = json.loads(told)
    np.testing.assert_allclose(found["vectors"], embedder.embed(TEXTS), atol=1e-6)
    assert found["usage"]["total_tokens"] == sum(map(len, embedder.tokenize(TEXTS)))
    assert found["status"] == 404


def test_hugging_faces_own_client(every_feed: Path) -> None:
    """Hugging Face's client asks the root, for one text at a time."""
    hub = pytest.importorskip("huggingface_hub")
    with served(every_feed) as service:
        found = hub.InferenceClient(service.url).feature_extraction("two words")
    np.testing.assert_allclose(found, Embedder(every_feed).embed(["two words"]), atol=1e-6)


def test_coheres_own_client(tmp_path: Path) -> None:
    """Cohere's client ranks through both versions of its interface."""
    cohere = pytest.importorskip("cohere")
    reranker = TASK_MODELS["rerank"](tmp_path / "tiny-rerank.onnx")
    asked = {"model": "tiny-rerank", "query": "a", "documents": ["b", "c", "d"], "top_n": 2}
    scores = Embedder(reranker).embed([("a", "b"), ("a", "c"), ("a", "d")])[:, 0]
    best = np.argsort(-scores, kind="stable")[:2]
    with served(reranker) as service:
        client = {"api_key": "any", "base_url": service.url}
        ranked = cohere.ClientV2(**client).rerank(**asked).results
        older = cohere.Client(**client).rerank(**asked, return_documents=True).results
    assert [one.index for one in ranked] == [one.index for one in older] == best.tolist()
    np.testing.assert_allclose([one.relevance_score for one in ranked], scores[best], atol=1e-6)
    assert [one.document.text for one in older] == [asked["documents"][one] for one in best]


def test_several_models(every_feed: Path, tmp_path: Path) -> None:
    """Each model is asked by name, and a wrong one lists those that fit the path."""
    reranker = TASK_MODELS["rerank"](tmp_path / "tiny-rerank.onnx")
    with served(every_feed, reranker) as service, httpx.Client(base_url=service.url) as client:
        assert len(client.get("/v1/models").json()["data"]) == 2
        body = {"query": "a", "texts": ["b", "c"]}
        assert len(client.post("/rerank", json=body).json()) == 2
        body = {"model": "tiny-rerank", "input": "a"}
        response = client.post("/v1/embeddings", json=body)
        message = "unknown model 'tiny-rerank'; choose one of: every-feed"
        assert response.json()["error"]["message"] == message


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_when_all_is_answered(every_feed: Path, number: int) -> None:
    """Requests that were accepted are answered; later ones are not accepted."""
    texts = [f"text {place}" for place in range(200)]
    with (
        served(every_feed, "--wait-ms", "700") as service,
        ThreadPoolExecutor(8) as pool,
        httpx.Client(base_url=service.url) as client,
    ):
        body = {"model": "every-feed", "input": texts}
        asked = [pool.submit(client.post, "/v1/embeddings", json=body) for _ in range(8)]
        time.sleep(0.4)
        assert service.ended(number) == 0
        answers = [one.result().json()["data"] for one in asked]
        assert [len(answer) for answer in answers] == [200] * 8
        with pytest.raises(httpx.ConnectError):
            client.get("/health/live")
    assert "Traceback" not in "".join(service.log)


def test_what_a_drain_leaves_is_told_to_ask_again(every_feed: Path) -> None:
    """Unanswered requests get 503 and Retry-After in their path's schema; the log has no error."""
    body = {"model": "every-feed", "input": "a"}
    with (
        served(every_feed, "--drain", "0", "--wait-ms", "3000") as service,
        ThreadPoolExecutor(4) as pool,
    ):
        url = f"{service.url}/v1/embeddings"
        asked = [pool.submit(httpx.post, url, json=body) for _ in range(4)]
        time.sleep(1)
        assert service.ended(signal.SIGTERM) == 0
        for one in asked:
            answer = one.result()
            assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1")
            assert answer.json()["error"]["message"] == "the service ends; ask again"
    told = [json.loads(line) for line in service.log]
    assert [line["status"] for line in told if "status" in line] == [503] * 4
    assert not any("traceback" in line for line in told)


def test_every_line_of_the_log_is_json(every_feed: Path) -> None:
    """The server's own messages are JSON, too."""
    with served(every_feed) as service:
        host, port = service.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as one:
            one.sendall(b"no HTTP at all\r\n\r\n")
            assert one.recv(1000).startswith(b"HTTP/1.1 400")
        assert service.ended(signal.SIGTERM) == 0
    told = [json.loads(line) for line in service.log]
    assert [line.get("message") for line in told] == [None, "Invalid HTTP request received."]


def test_answers_come_at_once(every_feed: Path) -> None:
    """No answer on a connection that stays open waits 40 ms for a delayed packet."""
    with served(every_feed) as service, httpx.Client(base_url=service.url) as client:
        took = []
        for _ in range(20):
            started = time.perf_counter()
            client.get("/health/live")
            took.append(time.perf_counter() - started)
        assert service.ended(signal.SIGTERM) == 0
    assert sorted(took)[5] < 0.03


def test_killed_and_started_again(every_feed: Path) -> None:
    """Callers that ask again get every vector, and each is the right one."""
    embedder = Embedder(every_feed)
    texts = [f"text {place}" for place in range(60)]
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
            asked = [pool.submit(ask, place) for place in range(60)]
            time.sleep(0.3)
            assert service.ended(signal.SIGKILL) == -signal.SIGKILL
        assert not all(one.done() for one in asked)
        with served(every_feed, port=port):
            found = np.array([one.result() for one in asked])
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_log_has_no_texts(every_feed: Path) -> None:
    """The log has one line of JSON a request, and never a text."""
    with served(every_feed) as service:
        body = {"model": "every-feed", "input": "a secret"}
        assert httpx.post(f"{service.url}/v1/embeddings", json=body).status_code == 200
        assert service.ended(signal.SIGINT) == 0
    first, last = service.log
    start = json.loads(first)
    assert start["listening"] == service.url
    assert start["version"] == __version__
    assert start["models"] == {"every-feed": Embedder(every_feed).manifest.fingerprint}
    assert json.loads(last)["path"] == "/v1/embeddings"


def test_wrong_input_is_one_line(every_feed: Path, tmp_path: Path) -> None:
    """Wrong input is told before anything listens."""
    (tmp_path / "empty").touch()
    accented = key_file(tmp_path / "accented", "one", "cl\u00e9")
    copy = shutil.copy(every_feed, tmp_path / "copy.onnx")
    for arguments, code, message in (
        ([tmp_path / "none.onnx"], 2, "none.onnx"),
        ([every_feed, "--api-key-file", tmp_path / "none"], 2, "none: cannot be read"),
        ([every_feed, "--api-key-file", tmp_path / "empty"], 2, "empty: holds no key; write one"),
        ([every_feed, "--api-key-file", accented], 2, "key 2 holds a blank or what is not ASCII"),
        ([every_feed, copy], 2, "two models have one name"),
        ([every_feed, "--matryoshka", "no"], 2, "--matryoshka no: no model of this name"),
        ([every_feed, "--device", "tpu"], 2, "unknown device 'tpu'"),
    ):
        shown = polybake("serve", *arguments, cwd=tmp_path, code=code)
        assert message in shown
        assert "Traceback" not in shown
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        shown = polybake("serve", every_feed, "--port", port, cwd=tmp_path, code=2)
        assert f"127.0.0.1:{port}: cannot be had" in shown


def test_a_file_that_is_not_what_it_says_is_not_served(tmp_path: Path) -> None:
    """It is hashed, and its golden cases are tried, before it listens."""
    path = write_every_feed_model(tmp_path / "m.onnx")
    table = rows(DIMENSION)["token_rows"]
    content = path.read_bytes()
    assert content.count(table.tobytes()) == 1
    path.write_bytes(content.replace(table.tobytes(), (2 * table).tobytes()))
    shown = polybake("serve", path, cwd=tmp_path, code=1)
    assert "the graph does not match its digest; copy the file again" in shown
    assert "listening" not in shown


def test_without_its_packages_it_names_its_extra(every_feed: Path) -> None:
    """A base install has neither runtime nor server; the extra that brings both is named."""
    code = (
        "import sys; sys.modules |= dict.fromkeys(('onnxruntime', 'tokenizers', 'fastapi'));"
        f"sys.argv = ['polybake', 'serve', {str(every_feed)!r}];"
        "import polybake.cli.main; polybake.cli.main.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert 'pip install ".[serve]"' in done.stderr
