"""The recipe for Haystack, in its pipelines, with its store in memory."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from models.files.prompted import DOCUMENTS, QUERY

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
pytest.importorskip("haystack", reason="haystack-ai is missing: nox -s recipes")


@pytest.fixture
def store(model: Path) -> Any:
    """A store that a pipeline filled."""
    from haystack import Document, Pipeline
    from haystack.components.writers import DocumentWriter
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack_embedders import BakedDocumentEmbedder

    store = InMemoryDocumentStore()
    indexing = Pipeline()
    indexing.add_component("embedder", BakedDocumentEmbedder(str(model)))
    indexing.add_component("writer", DocumentWriter(store))
    indexing.connect("embedder.documents", "writer.documents")
    documents = [Document(content=text) for text in DOCUMENTS]
    assert indexing.run({"documents": documents})["writer"] == {"documents_written": 5}
    assert [document.embedding for document in documents] == [None] * 5
    return store


def searching(store: Any, model: Path) -> Any:
    """The pipeline that asks."""
    from haystack import Pipeline
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack_embedders import BakedTextEmbedder

    pipeline = Pipeline()
    pipeline.add_component("embedder", BakedTextEmbedder(str(model)))
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=5))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline


def test_it_gives_the_vectors_of_the_client(model: Path, embedder: Any) -> None:
    """Called and awaited, with the model's name and fingerprint."""
    from haystack import Document
    from haystack_embedders import BakedDocumentEmbedder, BakedTextEmbedder

    query, documents = BakedTextEmbedder(str(model)), BakedDocumentEmbedder(str(model))
    meta = {"model": "all-minilm-l6-v2", "fingerprint": embedder.fingerprint}
    vector = embedder.embed_query(QUERY).tolist()
    for answer in (query.run(QUERY), asyncio.run(query.run_async(QUERY))):
        assert answer == {"embedding": vector, "meta": meta}
    vectors = embedder.embed_documents(DOCUMENTS).tolist()
    given = [Document(content=text) for text in DOCUMENTS]
    for answer in (documents.run(given), asyncio.run(documents.run_async(given))):
        assert [document.embedding for document in answer["documents"]] == vectors
        assert [document.id for document in answer["documents"]] == [one.id for one in given]
        assert answer["meta"] == meta
    assert documents.run([])["documents"] == []


def test_fields_stand_before_the_content(model: Path, embedder: Any) -> None:
    """Those that a document lacks are left out, as in Haystack's own embedders."""
    from haystack import Document
    from haystack_embedders import BakedDocumentEmbedder

    document = Document(content="the river", meta={"title": "water", "page": None})
    fields = BakedDocumentEmbedder(
        str(model), meta_fields_to_embed=["title", "page", "author"], embedding_separator=": "
    )
    (embedded,) = fields.run([document])["documents"]
    assert embedded.embedding == embedder.embed_documents(["water: the river"])[0].tolist()


def test_pipelines_ask_each_way(store: Any, model: Path, similarities: dict[str, float]) -> None:
    """Every score is that of a query's vector with a document's."""
    answer = searching(store, model).run({"embedder": {"text": QUERY}})
    found = answer["retriever"]["documents"]
    assert [one.content for one in found] == list(similarities)
    assert [one.score for one in found] == pytest.approx(list(similarities.values()), abs=1e-6)


def test_a_saved_pipeline_refuses_another_file(store: Any, model: Path, other: Path) -> None:
    """Once it was warmed up, its YAML has the fingerprint."""
    from haystack import Pipeline

    pipeline = searching(store, model)
    pipeline.warm_up()
    first = pipeline.get_component("embedder").run(QUERY)
    saved = pipeline.dumps()
    ours = ["haystack_embedders"]
    again = Pipeline.loads(saved, allowed_modules=ours).get_component("embedder")
    assert again.run(QUERY) == first
    changed = Pipeline.loads(saved.replace(str(model), str(other)), allowed_modules=ours)
    with pytest.raises(ValueError, match=rf"expected {first['meta']['fingerprint']}; open"):
        changed.warm_up()


def test_close_frees_and_a_run_opens_again(model: Path, embedder: Any) -> None:
    """As a pipeline does with its components."""
    from haystack_embedders import BakedTextEmbedder

    query = BakedTextEmbedder(str(model))
    query.close()
    query.warm_up()
    opened = query._embedder
    query.warm_up()
    assert query._embedder is opened
    query.close()
    with pytest.raises(Exception, match="closed"):
        opened.embed(["a"])
    assert query.run(QUERY)["embedding"] == embedder.embed_query(QUERY).tolist()
