"""A model file as the two embedders of Haystack: of the query, and of documents."""

import asyncio
from dataclasses import replace
from typing import Any

from all_minilm_l6_v2 import Embedder
from haystack import Document, component


class _Baked:
    """A model file that is open from ``warm_up`` to ``close``."""

    path: str
    fingerprint: str | None
    _embedder: Embedder | None = None

    def warm_up(self) -> None:
        """Open the model file.

        A pipeline that is saved from here on keeps the fingerprint, and refuses another file.

        Raises:
            ValueError: the file gives other vectors than those of ``fingerprint``.
        """
        self._open()

    def close(self) -> None:
        """Wait for calls in flight, then free the model; the next run opens it again."""
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None

    def _open(self) -> Embedder:
        if self._embedder is None:
            embedder = Embedder(self.path)
            if self.fingerprint not in (None, embedder.fingerprint):
                raise ValueError(
                    f"{self.path} gives vectors of {embedder.fingerprint}, expected "
                    f"{self.fingerprint}; open the file that made the stored vectors, or embed "
                    "the documents again"
                )
            self._embedder, self.fingerprint = embedder, embedder.fingerprint
        return self._embedder

    @property
    def _meta(self) -> dict[str, Any]:
        return {"model": self._open().name, "fingerprint": self.fingerprint}


@component
class BakedTextEmbedder(_Baked):
    """Embed a query with the model's query prompt, for the retriever that follows."""

    def __init__(self, path: str, fingerprint: str | None = None) -> None:
        """Keep where the model file lies.

        Args:
            path: the baked ``.onnx`` file.
            fingerprint: that of the vectors in the document store; None takes the file's.
        """
        self.path = path
        self.fingerprint = fingerprint

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """Embed one query."""
        return {"embedding": self._open().embed_query(text).tolist(), "meta": self._meta}

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    async def run_async(self, text: str) -> dict[str, Any]:
        """Embed one query in a thread."""
        return await asyncio.to_thread(self.run, text)


@component
class BakedDocumentEmbedder(_Baked):
    """Embed documents with the model's document prompt, for the writer that follows."""

    def __init__(
        self,
        path: str,
        fingerprint: str | None = None,
        meta_fields_to_embed: list[str] | None = None,
        embedding_separator: str = "\n",
    ) -> None:
        """Keep where the model file lies, and what of a document is embedded.

        Args:
            path: the baked ``.onnx`` file.
            fingerprint: that of the vectors in the document store; None takes the file's.
            meta_fields_to_embed: keys of ``meta`` whose values stand before the content.
            embedding_separator: what stands between them.
        """
        self.path = path
        self.fingerprint = fingerprint
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self.embedding_separator = embedding_separator

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Give the documents again, each with its embedding."""
        vectors = self._open().embed_documents([self._text(document) for document in documents])
        embedded = [
            replace(document, embedding=vector.tolist())
            for document, vector in zip(documents, vectors, strict=True)
        ]
        return {"documents": embedded, "meta": self._meta}

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    async def run_async(self, documents: list[Document]) -> dict[str, Any]:
        """The same in a thread."""
        return await asyncio.to_thread(self.run, documents)

    def _text(self, document: Document) -> str:
        values = (document.meta.get(key) for key in self.meta_fields_to_embed)
        shown = [str(value) for value in values if value is not None]
        return self.embedding_separator.join([*shown, document.content or ""])
