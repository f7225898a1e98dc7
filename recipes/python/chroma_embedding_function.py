"""A model file as the embedding function of Chroma, and collections that keep its fingerprint."""

import functools
from typing import Any

from all_minilm_l6_v2 import Embedder
from chromadb import Collection
from chromadb.api import ClientAPI
from chromadb.api.types import Documents, EmbeddingFunction, Embeddings, Space
from chromadb.utils.embedding_functions import register_embedding_function

_SPACES: dict[str, Space] = {"cosine": "cosine", "dot": "ip", "euclidean": "l2"}

#: Chroma makes its function anew for each call, which must not open the file anew.
_opened = functools.cache(Embedder)


@register_embedding_function
class BakedEmbeddingFunction(EmbeddingFunction[Documents]):
    """Embed documents when they are added, and queries when they are asked."""

    def __init__(self, path: str, fingerprint: str | None = None) -> None:
        """Open a model file.

        Args:
            path: the baked ``.onnx`` file.
            fingerprint: that of the collection's vectors; None takes the file's.

        Raises:
            ValueError: the file gives other vectors than these, or such as Chroma cannot compare.
        """
        similarity = _opened(path).similarity
        if similarity not in _SPACES:  # Here, as Chroma makes a warning of what is raised later.
            raise ValueError(
                f"{path} is compared by {similarity}; expected one of: {', '.join(_SPACES)}"
            )
        self.path = path
        self.embedder = _opened(path)
        self.fingerprint = self.embedder.fingerprint
        self._space = _SPACES[similarity]
        if fingerprint is not None:
            self.check(fingerprint)

    def check(self, fingerprint: str | None) -> None:
        """Compare the fingerprint of stored vectors with the file's.

        Raises:
            ValueError: they differ.
        """
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"{self.path} gives vectors of {self.fingerprint}, the collection has those of "
                f"{fingerprint}; open the file that made them, or add the documents to a new one"
            )

    def __call__(self, input: Documents) -> Embeddings:
        """Embed documents."""
        return list(self.embedder.embed_documents(input))

    def embed_query(self, input: Documents) -> Embeddings:
        """Embed queries."""
        return list(self.embedder.embed_queries(input))

    def default_space(self) -> Space:
        """What the model was trained to be compared by, as Chroma calls it."""
        return self._space

    @staticmethod
    def name() -> str:
        """What Chroma writes into a collection, to know the function again."""
        return "polybake-all-minilm-l6-v2"

    def get_config(self) -> dict[str, Any]:
        """What Chroma writes beside the name."""
        return {"path": self.path, "fingerprint": self.fingerprint}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> "BakedEmbeddingFunction":
        """Open the file of a collection that was opened without a function."""
        return BakedEmbeddingFunction(config["path"], config["fingerprint"])


def open_collection(client: ClientAPI, name: str, path: str) -> Collection:
    """Create a collection, or open one whose vectors the model file made.

    Chroma itself compares no more than the name of a function.

    Raises:
        ValueError: the vectors are those of another fingerprint.
    """
    function = BakedEmbeddingFunction(path)
    # Its type wants a function of texts and of images, which hardly one of its own is.
    collection = client.get_or_create_collection(name, embedding_function=function)  # type: ignore[arg-type]
    stored = collection.configuration_json["embedding_function"] or {}
    function.check(stored.get("config", {}).get("fingerprint"))
    return collection
