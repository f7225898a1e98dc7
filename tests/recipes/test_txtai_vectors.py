"""The recipe for txtai, which needs PyTorch, with an index that is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files.prompted import DOCUMENTS, NEAREST, QUERY

pytestmark = pytest.mark.oracle
txtai = pytest.importorskip("txtai", reason="txtai is missing: nox -s oracle")

METHOD = "txtai_vectors.BakedVectors"


@pytest.fixture
def index(model: Path) -> Any:
    """An index of the documents, with their texts."""
    index = txtai.Embeddings(method=METHOD, path=str(model), content=True)
    index.index(DOCUMENTS)
    return index


def check_search(index: Any, similarities: dict[str, float]) -> None:
    """Every score is that of a query's vector with a document's."""
    found = index.search(QUERY, 5)
    assert [one["text"] for one in found] == list(similarities)
    scores = [one["score"] for one in found]
    assert scores == pytest.approx(list(similarities.values()), abs=1e-6)


def test_it_gives_the_vectors_of_the_client(index: Any, embedder: Any) -> None:
    """By category; without one, txtai takes a text for a query."""
    texts = [(None, text, None) for text in DOCUMENTS]
    documents, queries = embedder.embed_documents(DOCUMENTS), embedder.embed_queries(DOCUMENTS)
    # txtai normalizes these unit vectors again.
    for category, expected in [("data", documents), ("query", queries), (None, queries)]:
        assert np.abs(index.batchtransform(texts, category) - expected).max() < 1e-6


def test_an_index_asks_each_way(index: Any, similarities: dict[str, float]) -> None:
    """When it is searched, and when it is given the documents with the query."""
    check_search(index, similarities)
    found = index.similarity(QUERY, DOCUMENTS)
    assert [DOCUMENTS[number] for number, _ in found] == list(similarities)


def test_a_text_that_comes_later_is_a_document(index: Any, embedder: Any) -> None:
    """One that is added to an index."""
    index.upsert([(9, "a ferry", None)])
    (score,) = [one["score"] for one in index.search(QUERY, 9) if one["text"] == "a ferry"]
    expected = embedder.embed_documents(["a ferry"])[0] @ embedder.embed_query(QUERY)
    assert score == pytest.approx(float(expected), abs=1e-6)


def test_a_saved_index_refuses_another_file(
    index: Any, other: Path, embedder: Any, similarities: dict[str, float], tmp_path: Path
) -> None:
    """It has the fingerprint in its configuration."""
    index.save(str(tmp_path / "index"))
    again = txtai.Embeddings()
    again.load(str(tmp_path / "index"))
    check_search(again, similarities)
    again.load(str(tmp_path / "index"), config={"path": str(other)})
    refused = rf"gives vectors of \w+, the index has those of {embedder.fingerprint}; open"
    with pytest.raises(ValueError, match=refused):
        again.search(NEAREST)
