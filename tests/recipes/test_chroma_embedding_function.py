"""The recipe for Chroma, with collections on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, NEAREST, QUERY

chromadb = pytest.importorskip("chromadb", reason="chromadb is missing: nox -s recipes")

SETTINGS = chromadb.Settings(anonymized_telemetry=False)


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """A database on disk."""
    return chromadb.PersistentClient(str(tmp_path / "database"), SETTINGS)


@pytest.fixture
def collection(client: Any, model: Path) -> Any:
    """A collection of the documents."""
    from chroma_embedding_function import open_collection

    collection = open_collection(client, "notes", str(model))
    collection.add(ids=list("abcde"), documents=DOCUMENTS)
    return collection


def check_search(collection: Any, similarities: dict[str, float]) -> None:
    """Every distance is that of a query's vector from a document's."""
    found = collection.query(query_texts=[QUERY], n_results=5)
    assert found["documents"] == [list(similarities)]
    distances = [1 - cosine for cosine in similarities.values()]
    assert found["distances"][0] == pytest.approx(distances, abs=1e-6)


def test_it_stores_the_vectors_of_the_client(collection: Any, embedder: Any) -> None:
    """In the space that the model was trained for."""
    stored = collection.get(ids=list("abcde"), include=["embeddings"])
    order = [list("abcde").index(one) for one in stored["ids"]]
    expected = embedder.embed_documents(DOCUMENTS)[order]
    # Chroma normalizes what it compares by cosine, these unit vectors too.
    assert np.abs(stored["embeddings"] - expected).max() < 1e-6
    assert collection.configuration["hnsw"]["space"] == "cosine"


def test_it_gives_the_vectors_of_the_client(model: Path, embedder: Any) -> None:
    """A function that stands alone: of documents, and of queries."""
    from chroma_embedding_function import BakedEmbeddingFunction

    function = BakedEmbeddingFunction(str(model))
    assert np.array_equal(function(DOCUMENTS), embedder.embed_documents(DOCUMENTS))
    assert np.array_equal(function.embed_query(DOCUMENTS), embedder.embed_queries(DOCUMENTS))


def test_a_collection_asks_each_way(collection: Any, similarities: dict[str, float]) -> None:
    check_search(collection, similarities)


@pytest.mark.parametrize(("similarity", "space"), [("dot", "ip"), ("euclidean", "l2")])
def test_the_space_is_the_models(
    client: Any, compared_by: Any, similarity: str, space: str
) -> None:
    """Cosine is above."""
    from chroma_embedding_function import open_collection

    collection = open_collection(client, "notes", str(compared_by(similarity)))
    assert collection.configuration["hnsw"]["space"] == space


def test_bits_are_refused(client: Any, compared_by: Any) -> None:
    """Chroma compares none, and no collection is made."""
    from chroma_embedding_function import open_collection

    refused = "is compared by hamming; expected one of: cosine, dot, euclidean"
    with pytest.raises(ValueError, match=refused):
        open_collection(client, "notes", str(compared_by("hamming")))
    assert client.list_collections() == []


def test_it_is_opened_again(
    collection: Any, client: Any, model: Path, tmp_path: Path, similarities: dict[str, float]
) -> None:
    """By the recipe, by Chroma alone, and where the file lies elsewhere now."""
    from chroma_embedding_function import open_collection

    moved = tmp_path / "moved.onnx"
    moved.symlink_to(model)
    assert collection.count() == 5
    check_search(open_collection(client, "notes", str(model)), similarities)
    check_search(open_collection(client, "notes", str(moved)), similarities)
    check_search(client.get_collection("notes"), similarities)


@pytest.mark.usefixtures("collection")
def test_another_file_is_refused(client: Any, model: Path, other: Path, embedder: Any) -> None:
    """Whoever opens the collection; and it is left as it was."""
    from chroma_embedding_function import BakedEmbeddingFunction, open_collection

    refused = rf"gives vectors of \w+, the collection has those of {embedder.fingerprint}; open"
    with pytest.raises(ValueError, match=refused):
        open_collection(client, "notes", str(other))
    with pytest.raises(ValueError, match=refused):
        BakedEmbeddingFunction.build_from_config(
            {"path": str(other), "fingerprint": embedder.fingerprint}
        )
    again = open_collection(client, "notes", str(model))
    assert again.query(query_texts=[QUERY], n_results=1)["documents"] == [[NEAREST]]


def test_a_collection_of_another_function_is_refused(client: Any, model: Path) -> None:
    """One that was made without any: nobody knows what its vectors are."""
    from chroma_embedding_function import open_collection

    client.create_collection("foreign", embedding_function=None)
    with pytest.raises(ValueError, match="the collection has those of None; open"):
        open_collection(client, "foreign", str(model))
