"""The recipe for LangChain, with its vector store in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from models.files.prompted import DOCUMENTS, QUERY

pytest.importorskip("langchain_core", reason="langchain-core is missing: nox -s recipes")


def test_it_gives_the_vectors_of_the_client(model: Path, embedder: Any) -> None:
    """Queries and documents, called and awaited."""
    from langchain_embeddings import BakedEmbeddings

    embeddings = BakedEmbeddings(str(model))
    query = embedder.embed_query(QUERY).tolist()
    documents = embedder.embed_documents(DOCUMENTS).tolist()
    assert embeddings.embed_query(QUERY) == query
    assert embeddings.embed_documents(DOCUMENTS) == documents
    assert asyncio.run(embeddings.aembed_query(QUERY)) == query
    assert asyncio.run(embeddings.aembed_documents(DOCUMENTS)) == documents


def test_a_store_asks_each_way(model: Path, similarities: dict[str, float]) -> None:
    """Every score is that of a query's vector with a document's."""
    from langchain_core.vectorstores import InMemoryVectorStore
    from langchain_embeddings import BakedEmbeddings

    store = InMemoryVectorStore(BakedEmbeddings(str(model)))
    store.add_texts(DOCUMENTS)
    found = store.similarity_search_with_score(QUERY, k=5)
    assert [one.page_content for one, _ in found] == list(similarities)
    assert [score for _, score in found] == pytest.approx(list(similarities.values()), abs=1e-6)
    awaited = asyncio.run(store.asimilarity_search_with_score(QUERY, k=5))
    assert [score for _, score in awaited] == [score for _, score in found]


def test_another_file_is_refused(model: Path, other: Path, embedder: Any) -> None:
    """Who kept the fingerprint is told both, and what to do."""
    from langchain_embeddings import BakedEmbeddings

    fingerprint = embedder.fingerprint
    assert BakedEmbeddings(str(model), fingerprint).embedder.fingerprint == fingerprint
    with pytest.raises(ValueError, match=rf"gives vectors of \w+, expected {fingerprint}; open"):
        BakedEmbeddings(str(other), fingerprint)
