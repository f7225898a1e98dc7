"""The recipes for Chroma and Qdrant: collections on disk that keep a model's fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, QUERY

IDS = [1, 2, 3, 4, 5]


class Chroma:
    """Collections of Chroma, in a folder."""

    def __init__(self, folder: Path) -> None:
        chromadb = pytest.importorskip("chromadb", reason="chromadb is missing: nox -s recipes")
        settings = chromadb.Settings(anonymized_telemetry=False)
        self.client = chromadb.PersistentClient(str(folder), settings)

    def open(self, model: Path) -> Any:
        from chroma_embedding_function import open_collection

        return open_collection(self.client, "notes", str(model))

    def add(self, collection: Any, ids: list[int], texts: list[str]) -> None:
        collection.upsert(ids=[str(one) for one in ids], documents=texts)

    def stored(self, collection: Any) -> tuple[list[str], np.ndarray]:
        """Texts and vectors by id."""
        found = collection.get(ids=[str(one) for one in IDS], include=["embeddings", "documents"])
        order = np.argsort(found["ids"])
        return [found["documents"][one] for one in order], found["embeddings"][order]

    def search(self, collection: Any) -> dict[str, float]:
        """The cosine of each text, nearest first."""
        found = collection.query(query_texts=[QUERY], n_results=5)
        (texts,), (distances,) = found["documents"], found["distances"]
        return {text: 1 - distance for text, distance in zip(texts, distances, strict=True)}

    def space(self, collection: Any) -> str:
        return collection.configuration["hnsw"]["space"]

    def names(self) -> list[str]:
        return [one.name for one in self.client.list_collections()]

    def make_foreign(self) -> None:
        """A collection of vectors that nobody knows."""
        self.client.create_collection("notes", embedding_function=None)

    def close(self) -> None:
        """Chroma's clients of one folder share what is open."""


class Qdrant:
    """Collections of Qdrant's client, in a folder."""

    def __init__(self, folder: Path) -> None:
        missing = "qdrant-client is missing: nox -s recipes"
        self.qdrant = pytest.importorskip("qdrant_client", reason=missing)
        self.client = self.qdrant.QdrantClient(path=str(folder))

    def open(self, model: Path) -> Any:
        from qdrant_collection import BakedCollection

        return BakedCollection(self.client, "notes", str(model))

    def add(self, collection: Any, ids: list[int], texts: list[str]) -> None:
        collection.upsert(ids, texts)

    def stored(self, collection: Any) -> tuple[list[str], np.ndarray]:
        """Texts and vectors by id."""
        points = collection.client.retrieve("notes", IDS, with_vectors=True)
        return [one.payload["text"] for one in points], np.array([one.vector for one in points])

    def search(self, collection: Any) -> dict[str, float]:
        """The cosine of each text, nearest first."""
        assert len(collection.search(QUERY, limit=2)) == 2
        return {one.payload["text"]: one.score for one in collection.search(QUERY)}

    def space(self, collection: Any) -> str:
        return collection.client.get_collection("notes").config.params.vectors.distance.value

    def names(self) -> list[str]:
        return [one.name for one in self.client.get_collections().collections]

    def make_foreign(self) -> None:
        """A collection of vectors that nobody knows."""
        models = self.qdrant.models
        size = models.VectorParams(size=12, distance=models.Distance.COSINE)
        self.client.create_collection("notes", vectors_config=size)

    def close(self) -> None:
        """One client at a time may have the folder open."""
        self.client.close()


STORES = {"Chroma": Chroma, "Qdrant": Qdrant}
SPACES = {
    "Chroma": {"cosine": "cosine", "dot": "ip", "euclidean": "l2"},
    "Qdrant": {"cosine": "Cosine", "dot": "Dot", "euclidean": "Euclid"},
}


@pytest.fixture(params=STORES)
def name(request: pytest.FixtureRequest) -> str:
    """The store's."""
    return request.param


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store's, which no other test has: Chroma's clients of one path share what is open."""
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def store(name: str, folder: Path) -> Any:
    """A store in a folder."""
    return STORES[name](folder)


@pytest.fixture
def collection(store: Any, model: Path) -> Any:
    """A collection of the documents."""
    collection = store.open(model)
    store.add(collection, IDS, DOCUMENTS)
    return collection


def test_it_stores_the_vectors_of_the_client(store: Any, collection: Any, embedder: Any) -> None:
    """Each with its text; one under an id that is there already takes its place."""
    texts, vectors = store.stored(collection)
    assert texts == DOCUMENTS
    # Both normalize what they compare by cosine, these unit vectors too.
    assert np.abs(vectors - embedder.embed_documents(DOCUMENTS)).max() < 1e-6
    store.add(collection, [2], ["a ferry"])
    assert store.stored(collection)[0] == [DOCUMENTS[0], "a ferry", *DOCUMENTS[2:]]


def test_a_collection_asks_each_way(
    store: Any, collection: Any, similarities: dict[str, float], tmp_path: Path, model: Path
) -> None:
    """Every score is that of a query's vector with a document's, also where the file moved to."""
    moved = tmp_path / "moved.onnx"
    moved.symlink_to(model)
    for opened in (collection, store.open(model), store.open(moved)):
        found = store.search(opened)
        assert list(found) == list(similarities)
        assert list(found.values()) == pytest.approx(list(similarities.values()), abs=1e-6)


@pytest.mark.parametrize("similarity", SPACES["Chroma"])
def test_the_space_is_the_models(store: Any, name: str, compared_by: Any, similarity: str) -> None:
    """What vectors are compared by."""
    collection = store.open(compared_by(similarity))
    assert store.space(collection) == SPACES[name][similarity]


def test_bits_are_refused(store: Any, compared_by: Any) -> None:
    """Neither compares any, and no collection is made."""
    refused = "is compared by hamming; expected one of: cosine, dot, euclidean"
    with pytest.raises(ValueError, match=refused):
        store.open(compared_by("hamming"))
    assert store.names() == []


@pytest.mark.usefixtures("collection")
def test_another_file_is_refused(
    store: Any, folder: Path, name: str, model: Path, other: Path, embedder: Any
) -> None:
    """Of a store that is opened again, whose collection is left as it was."""
    store.close()
    again = STORES[name](folder)
    refused = rf"gives vectors of \w+, the collection (notes )?has those of {embedder.fingerprint}"
    with pytest.raises(ValueError, match=refused):
        again.open(other)
    assert len(again.search(again.open(model))) == 5


def test_a_collection_of_unknown_vectors_is_refused(store: Any, model: Path) -> None:
    """One that was made without a fingerprint."""
    store.make_foreign()
    with pytest.raises(ValueError, match=r"the collection (notes )?has those of None; open"):
        store.open(model)


def test_chroma_alone_makes_the_function(model: Path, other: Path, embedder: Any) -> None:
    """It stands alone, too; Chroma makes it of what the collection keeps, and it refuses others."""
    pytest.importorskip("chromadb", reason="chromadb is missing: nox -s recipes")
    from chroma_embedding_function import BakedEmbeddingFunction

    function = BakedEmbeddingFunction(str(model))
    assert np.array_equal(function(DOCUMENTS), embedder.embed_documents(DOCUMENTS))
    assert np.array_equal(function.embed_query(DOCUMENTS), embedder.embed_queries(DOCUMENTS))
    made = BakedEmbeddingFunction.build_from_config
    kept = {"path": str(model), "fingerprint": embedder.fingerprint}
    assert np.array_equal(made(kept)(DOCUMENTS), function(DOCUMENTS))
    with pytest.raises(ValueError, match=f"has those of {embedder.fingerprint}"):
        made(kept | {"path": str(other)})
