"""The requests of OpenAI's clients."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from models.files.every_feed import write_every_feed_model
from polybake.runtime.embedder import Embedder
from support.servers.service import serving

TEXTS = ["Hello, world", "", "two words"]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return Embedder(write_every_feed_model(tmp_path_factory.mktemp("m") / "m.onnx"))


@pytest.fixture(scope="module")
def client(embedder: Embedder) -> Iterator[TestClient]:
    with serving(embedder.path) as client:
        yield client


def asked(client: TestClient, embedder: Embedder, **body: object) -> Any:
    response = client.post("/v1/embeddings", json={"model": embedder.manifest.name, **body})
    assert response.status_code == 200, response.text
    assert response.headers["X-Polybake-Fingerprint"] == embedder.manifest.fingerprint
    return response.json()


def vectors(answer: Any) -> np.ndarray:
    assert [one["index"] for one in answer["data"]] == [*range(len(answer["data"]))]
    return np.array([one["embedding"] for one in answer["data"]], np.float32)


def test_texts_have_the_vectors_of_the_file(client: TestClient, embedder: Embedder) -> None:
    """Vectors keep the order of the texts, and usage is the number of tokens."""
    answer = asked(client, embedder, input=TEXTS)
    expected = embedder.embed(TEXTS)
    np.testing.assert_allclose(vectors(answer), expected, atol=1e-6)
    tokens = sum(map(len, embedder.tokenize(TEXTS)))
    assert answer["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    assert (answer["object"], answer["model"]) == ("list", embedder.manifest.name)
    one = asked(client, embedder, input=TEXTS[0])
    assert [*one["data"][0]] == ["object", "index", "embedding"]
    np.testing.assert_array_equal(vectors(one), embedder.embed(TEXTS[:1]))


def test_base64_is_of_float32(client: TestClient, embedder: Embedder) -> None:
    """Base64 holds float32, which the official clients ask for by default."""
    (one,) = asked(client, embedder, input=["a"], encoding_format="base64")["data"]
    found = np.frombuffer(base64.b64decode(one["embedding"]), "<f4")
    np.testing.assert_array_equal(found, embedder.embed(["a"])[0])


def test_token_ids_are_the_models_own(client: TestClient, embedder: Embedder) -> None:
    """One row or several rows of ids are taken, with their special tokens."""
    rows = embedder.tokenize(TEXTS)
    expected = vectors(asked(client, embedder, input=TEXTS))
    np.testing.assert_allclose(vectors(asked(client, embedder, input=rows)), expected, atol=1e-6)
    found = vectors(asked(client, embedder, input=rows[0]))
    np.testing.assert_allclose(found, expected[:1], atol=1e-6)


def test_prompts_by_name_and_by_role(client: TestClient, embedder: Embedder) -> None:
    """A prompt may be named, or chosen by role as in the generated clients."""
    for name in ("query", "document"):
        expected = embedder.embed(TEXTS, prompt=name)
        for given in ({"prompt_name": name}, {"input_type": name}):
            found = vectors(asked(client, embedder, input=TEXTS, **given))
            np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_role_without_a_prompt_has_none(tmp_path: Path) -> None:
    """The default prompt belongs to the other role, so it is not used."""
    path = write_every_feed_model(
        tmp_path / "m.onnx", prompts={"query": "query: "}, default_prompt="query"
    )
    embedder = Embedder(path)
    with serving(path) as client:
        default = vectors(asked(client, embedder, input=TEXTS))
        document = vectors(asked(client, embedder, input=TEXTS, input_type="document"))
    np.testing.assert_allclose(default, embedder.embed(TEXTS), atol=1e-6)
    assert not np.allclose(default, document)


def test_fewer_dimensions_of_a_matryoshka_model(embedder: Embedder) -> None:
    """Vectors are cut only if the operator says that the model allows it."""
    with serving(embedder.path, matryoshka=True) as client:
        found = vectors(asked(client, embedder, input=TEXTS, dimensions=3))
        np.testing.assert_allclose(found, embedder.embed(TEXTS)[:, :3], atol=1e-6)
        body = {"model": embedder.manifest.name, "input": "a", "dimensions": 8}
        response = client.post("/v1/embeddings", json=body)
        assert response.json()["error"]["message"] == "dimensions is 8; expected 7 or less"


def test_models_are_listed(client: TestClient, embedder: Embedder) -> None:
    """The list has each model's name."""
    (model,) = client.get("/v1/models").json()["data"]
    assert (model["id"], model["object"]) == (embedder.manifest.name, "model")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"input": "a", "model": "no"}, 404, "unknown model 'no'; choose one of: every-feed"),
        ({"input": "a"}, 422, "model: Field required"),
        ({"input": [], "model": "every-feed"}, 422, "0 texts; expected 1 to 2048"),
        (
            {"input": [[1, 999]], "model": "every-feed"},
            422,
            "text 0 has the token id 999; ",
        ),
        (
            {"input": [[2, 5, 3], []], "model": "every-feed"},
            422,
            "text 1 has no token ids; leave it out",
        ),
        (
            {"input": [5, 6], "model": "every-feed"},
            422,
            (
                "text 0 lacks the special tokens of every-feed's tokenizer; expected token ids "
                "[2, ..., 3], or send texts (LangChain's OpenAIEmbeddings: "
                "check_embedding_ctx_length=False)"
            ),
        ),
        ({"input": [[2, 5, 3], [2, 5]], "model": "every-feed"}, 422, "text 1 lacks the special"),
        ({"input": [[3]], "model": "every-feed"}, 422, "text 0 lacks the special"),
        ({"input": [[1] * 17], "model": "every-feed"}, 422, "text 0 has 17 tokens; expected 16 or"),
        (
            {"input": ["a"] * 2049, "model": "every-feed"},
            413,
            "2049 texts; expected 1 to 2048",
        ),
        (
            {"input": "a", "model": "every-feed", "dimensions": 3},
            422,
            "dimensions is 3; expected 7",
        ),
        (
            {"input": "a", "model": "every-feed", "prompt_name": "no"},
            422,
            "unknown prompt 'no'; choose one of: query, document",
        ),
        (
            {"input": "a", "model": "every-feed", "prompt_name": "query", "input_type": "query"},
            422,
            "prompt_name and input_type exclude each other; give one",
        ),
        (
            {"input": [[1]], "model": "every-feed", "input_type": "query"},
            422,
            "token ids hold their prompt; leave prompt and type out",
        ),
    ],
)
def test_what_is_refused(
    client: TestClient, body: dict[str, object], status: int, message: str
) -> None:
    """Errors have one line, in OpenAI's own schema."""
    response = client.post("/v1/embeddings", json=body)
    assert response.status_code == status
    error = response.json()["error"]
    assert error["message"].startswith(message)
    assert error["type"] == "invalid_request_error"


def test_a_text_is_valid_unicode(client: TestClient) -> None:
    """Lone surrogates in JSON are refused."""
    body = b'{"model": "every-feed", "input": ["fine", "\\ud800"]}'
    header = {"Content-Type": "application/json"}
    response = client.post("/v1/embeddings", content=body, headers=header)
    assert response.status_code == 422
    message = "a text is not valid Unicode; repair or drop it"
    assert response.json()["error"]["message"] == message
