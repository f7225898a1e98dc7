"""A model file as the embeddings of LangChain."""

from all_minilm_l6_v2 import Embedder
from langchain_core.embeddings import Embeddings


class BakedEmbeddings(Embeddings):
    """Embed queries and documents, each with the model's own prompt.

    LangChain's own ``aembed_query`` and ``aembed_documents`` call these in a thread, which an
    embedder bears: threads may share it, and others go on while it runs.
    """

    def __init__(self, path: str, fingerprint: str | None = None) -> None:
        """Open a model file.

        Args:
            path: the baked ``.onnx`` file.
            fingerprint: that of the vectors in the store, where you kept it.

        Raises:
            ValueError: the file gives other vectors than these.
        """
        self.embedder = Embedder(path)
        if fingerprint not in (None, self.embedder.fingerprint):
            raise ValueError(
                f"{path} gives vectors of {self.embedder.fingerprint}, expected {fingerprint}; "
                "open the file that made the stored vectors, or embed the documents again"
            )

    def embed_query(self, text: str) -> list[float]:
        """Embed a query."""
        vector: list[float] = self.embedder.embed_query(text).tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed documents, in their order."""
        vectors: list[list[float]] = self.embedder.embed_documents(texts).tolist()
        return vectors
