"""A collection of Qdrant whose vectors one model file makes."""

from collections.abc import Sequence

from all_minilm_l6_v2 import Embedder
from qdrant_client import QdrantClient
from qdrant_client.models import Batch, Distance, ScoredPoint, VectorParams

_DISTANCES = {
    "cosine": Distance.COSINE,
    "dot": Distance.DOT,
    "euclidean": Distance.EUCLID,
}


class BakedCollection:
    """Texts and their vectors, searched by texts.

    Whatever else a collection does, filters say, the client does with ``name``; ``embedder`` gives
    vectors for it.
    """

    def __init__(self, client: QdrantClient, name: str, path: str) -> None:
        """Create a collection, or open one whose vectors the model file made.

        Args:
            client: of a server that keeps metadata of collections, or of a local store.
            name: the collection's.
            path: the baked ``.onnx`` file.

        Raises:
            ValueError: the vectors are those of another fingerprint, or Qdrant has no distance
                by which the model's are compared.
        """
        self.client, self.name = client, name
        self.embedder = Embedder(path)
        made = self.embedder.fingerprint
        if not client.collection_exists(name):
            similarity = self.embedder.similarity
            if similarity not in _DISTANCES:
                raise ValueError(
                    f"{path} is compared by {similarity}; expected one of: {', '.join(_DISTANCES)}"
                )
            distance, size = _DISTANCES[similarity], self.embedder.dimension
            client.create_collection(
                name,
                vectors_config=VectorParams(size=size, distance=distance),
                metadata={"fingerprint": made},
            )
        stored = (client.get_collection(name).config.metadata or {}).get("fingerprint")
        if stored != made:
            raise ValueError(
                f"{path} gives vectors of {made}, the collection {name} has those of {stored}; "
                "open the file that made them, or add the documents to a new collection"
            )

    def upsert(self, ids: Sequence[int | str], texts: Sequence[str]) -> None:
        """Embed documents and store them, each text in the payload of its point.

        Args:
            ids: whole numbers or UUIDs; what stands under them already is replaced.
            texts: one for each of ``ids``.
        """
        self.client.upsert(
            self.name,
            Batch(
                ids=list(ids),
                vectors=self.embedder.embed_documents(texts).tolist(),
                payloads=[{"text": text} for text in texts],
            ),
        )

    def search(self, query: str, limit: int = 10) -> list[ScoredPoint]:
        """The points nearest to a query, with scores and payloads."""
        vector = self.embedder.embed_query(query).tolist()
        return self.client.query_points(self.name, query=vector, limit=limit).points
