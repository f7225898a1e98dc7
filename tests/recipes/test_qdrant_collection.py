"""The recipe for Qdrant, with its client's own store on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, QUERY

qdrant = pytest.importorskip("qdrant_client", reason="qdrant-client is missing: nox -s recipes")

IDS = [1, 2, 3, 4, 5]


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """A store in a folder."""
    return qdrant.QdrantClient(path=str(tmp_path / "store"))


@pytest.fixture
def collection(client: Any, model: Path) -> Any:
    """A collection of the documents."""
    from qdrant_collection import BakedCollection

    collection = BakedCollection(client, "notes", str(model))
    collection.upsert(IDS, DOCUMENTS)
    return collection


def test_it_stores_the_vectors_of_the_client(collection: Any, embedder: Any) -> None:
    """Each with its text, by the distance that the model was trained for."""
    client = collection.client
    points = client.retrieve("notes", IDS, with_vectors=True)
    expected = embedder.embed_documents(DOCUMENTS)
    assert [point.payload for point in points] == [{"text": text} for text in DOCUMENTS]
    # Qdrant normalizes what it compares by cosine, these unit vectors too.
    assert np.abs(np.array([point.vector for point in points]) - expected).max() < 1e-6
    vectors = client.get_collection("notes").config.params.vectors
    assert (vectors.size, vectors.distance) == (12, qdrant.models.Distance.COSINE)


def test_a_collection_asks_each_way(collection: Any, similarities: dict[str, float]) -> None:
    """Every score is that of a query's vector with a document's."""
    found = collection.search(QUERY)
    assert [point.payload["text"] for point in found] == list(similarities)
    scores = [point.score for point in found]
    assert scores == pytest.approx(list(similarities.values()), abs=1e-6)
    assert len(collection.search(QUERY, limit=2)) == 2


@pytest.mark.parametrize(("similarity", "distance"), [("dot", "Dot"), ("euclidean", "Euclid")])
def test_the_distance_is_the_models(
    client: Any, compared_by: Any, similarity: str, distance: str
) -> None:
    """Cosine is above."""
    from qdrant_collection import BakedCollection

    BakedCollection(client, "notes", str(compared_by(similarity)))
    assert client.get_collection("notes").config.params.vectors.distance == distance


def test_bits_are_refused(client: Any, compared_by: Any) -> None:
    """Qdrant compares none, and no collection is made."""
    from qdrant_collection import BakedCollection

    refused = "is compared by hamming; expected one of: cosine, dot, euclidean"
    with pytest.raises(ValueError, match=refused):
        BakedCollection(client, "notes", str(compared_by("hamming")))
    assert not client.collection_exists("notes")


def test_upsert_replaces(collection: Any) -> None:
    """A text under an id that is there already takes its place."""
    collection.upsert([2], ["a ferry"])
    assert collection.client.count("notes").count == 5
    assert collection.client.retrieve("notes", [2])[0].payload == {"text": "a ferry"}


def test_another_file_is_refused(
    collection: Any, model: Path, other: Path, embedder: Any, tmp_path: Path
) -> None:
    """Of a store that is opened again, whose collection is left as it was."""
    from qdrant_collection import BakedCollection

    collection.client.close()
    client = qdrant.QdrantClient(path=str(tmp_path / "store"))
    refused = rf"gives vectors of \w+, the collection notes has those of {embedder.fingerprint};"
    with pytest.raises(ValueError, match=refused):
        BakedCollection(client, "notes", str(other))
    assert len(BakedCollection(client, "notes", str(model)).search(QUERY)) == 5


def test_a_collection_of_unknown_vectors_is_refused(client: Any, model: Path) -> None:
    """One that was made without a fingerprint."""
    from qdrant_collection import BakedCollection

    size = qdrant.models.VectorParams(size=12, distance=qdrant.models.Distance.COSINE)
    client.create_collection("foreign", vectors_config=size)
    with pytest.raises(ValueError, match="the collection foreign has those of None; open"):
        BakedCollection(client, "foreign", str(model))
