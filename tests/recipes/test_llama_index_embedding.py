"""The recipe for LlamaIndex, with its index in memory."""

from __future__ import annotations

import asyncio
import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from models.files.prompted import DOCUMENTS, QUERY

pytest.importorskip("llama_index.core", reason="llama-index-core is missing: nox -s recipes")


def test_it_gives_the_vectors_of_the_client(model: Path, embedder: Any) -> None:
    """Queries, texts and batches of them, called and awaited."""
    from llama_index_embedding import BakedEmbedding

    embedding = BakedEmbedding(path=str(model), embed_batch_size=2)
    query = embedder.embed_query(QUERY).tolist()
    documents = embedder.embed_documents(DOCUMENTS).tolist()
    one = embedder.embed_documents(DOCUMENTS[:1])[0].tolist()
    assert embedding.get_query_embedding(QUERY) == query
    assert embedding.get_text_embedding(DOCUMENTS[0]) == one
    assert embedding.get_text_embedding_batch(DOCUMENTS) == same(documents)
    assert asyncio.run(embedding.aget_query_embedding(QUERY)) == query
    assert asyncio.run(embedding.aget_text_embedding(DOCUMENTS[0])) == one
    assert asyncio.run(embedding.aget_text_embedding_batch(DOCUMENTS)) == same(documents)


def same(rows: list[list[float]]) -> list[Any]:
    """Rows that were in other batches may differ in their last bits."""
    return [pytest.approx(row, abs=1e-6) for row in rows]


def test_an_index_asks_each_way(model: Path, similarities: dict[str, float]) -> None:
    """Every score is that of a query's vector with a node's."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index_embedding import BakedEmbedding

    nodes = [TextNode(text=text) for text in DOCUMENTS]
    index = VectorStoreIndex(nodes, embed_model=BakedEmbedding(path=str(model)))
    retriever = index.as_retriever(similarity_top_k=5)
    for found in (retriever.retrieve(QUERY), asyncio.run(retriever.aretrieve(QUERY))):
        assert [one.text for one in found] == list(similarities)
        scores = [one.score for one in found]
        assert scores == pytest.approx(list(similarities.values()), abs=1e-6)


def test_the_event_loop_goes_on(model: Path, embedder: Any, monkeypatch: Any) -> None:
    """What is awaited runs in another thread, many texts in one call."""
    from llama_index_embedding import BakedEmbedding

    calls: list[tuple[int, bool]] = []
    embedding = BakedEmbedding(path=str(model))
    kept = type(embedder).embed_documents

    def counted(self: Any, texts: list[str]) -> Any:
        calls.append((len(texts), threading.current_thread() is threading.main_thread()))
        return kept(self, texts)

    monkeypatch.setattr(type(embedder), "embed_documents", counted)
    asyncio.run(embedding.aget_text_embedding_batch(DOCUMENTS))
    assert calls == [(5, False)]


def test_what_is_saved_refuses_another_file(model: Path, other: Path, embedder: Any) -> None:
    """As a dictionary or pickled, it is the same again; the fingerprint is in it."""
    from llama_index_embedding import BakedEmbedding

    embedding = BakedEmbedding(path=str(model))
    saved = embedding.to_dict()
    for again in (BakedEmbedding.from_dict(saved), pickle.loads(pickle.dumps(embedding))):  # noqa: S301
        assert again.get_query_embedding(QUERY) == embedding.get_query_embedding(QUERY)
        assert again.model_name == "all-minilm-l6-v2"
    fingerprint = embedder.fingerprint
    with pytest.raises(ValueError, match=rf"gives vectors of \w+, expected {fingerprint}; open"):
        BakedEmbedding.from_dict({**saved, "path": str(other)})


def test_a_cache_is_refused(model: Path) -> None:
    """LlamaIndex's own has one vector for a query and a document of the same words."""
    from llama_index.core.storage.kvstore import SimpleKVStore
    from llama_index_embedding import BakedEmbedding

    with pytest.raises(ValueError, match="a query would get the vector of a document"):
        BakedEmbedding(path=str(model), embeddings_cache=SimpleKVStore())
