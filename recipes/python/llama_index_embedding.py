"""A model file as the embedding of LlamaIndex."""

import asyncio
from typing import Any

from all_minilm_l6_v2 import Embedder
from llama_index.core.base.embeddings.base import BaseEmbedding, Embedding
from pydantic import Field, PrivateAttr


class BakedEmbedding(BaseEmbedding):
    """Embed queries and texts of nodes, each with the model's own prompt.

    ``to_dict`` keeps the fingerprint, so ``from_dict`` refuses a file that gives other vectors.

    Raises:
        ValueError: the file's fingerprint is another than ``fingerprint``, or there is a cache.
    """

    path: str = Field(description="The baked .onnx file.")
    fingerprint: str = Field(default="", description="That of the vectors; empty takes the file's.")
    # The client sorts texts by length and makes batches of its own.
    embed_batch_size: int = Field(default=2048, description="Texts of one call.", gt=0, le=2048)
    _embedder: Embedder = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Open the model file."""
        super().model_post_init(context)
        if self.embeddings_cache is not None:
            raise ValueError(
                "embeddings_cache keeps vectors by their text alone, so that a query would get the "
                "vector of a document with the same words; leave it out"
            )
        self._embedder = Embedder(self.path)
        self.model_name = self._embedder.name
        found = self._embedder.fingerprint
        if self.fingerprint not in ("", found):
            raise ValueError(
                f"{self.path} gives vectors of {found}, expected {self.fingerprint}; "
                "open the file that made the stored vectors, or embed the documents again"
            )
        self.fingerprint = found

    @classmethod
    def class_name(cls) -> str:
        """The name under which ``to_dict`` saves it."""
        return "BakedEmbedding"

    def _get_query_embedding(self, query: str) -> Embedding:
        vector: Embedding = self._embedder.embed_query(query).tolist()
        return vector

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        vectors: list[Embedding] = self._embedder.embed_documents(texts).tolist()
        return vectors

    # The base class has these block the event loop, or take texts one by one.

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)
