"""A model file as the vectors of txtai."""

from typing import Any

import numpy as np
from all_minilm_l6_v2 import Embedder
from numpy.typing import NDArray
from txtai.vectors import Vectors


class BakedVectors(Vectors):
    """Embed what is indexed as documents, and what is searched for as queries.

    txtai's method ``external`` gives its function texts alone, not which of the two they are; a
    class of vectors is told. txtai gives vectors unit length, so it compares by cosine.
    """

    def loadmodel(self, path: str) -> Embedder:
        """Open the baked ``.onnx`` file of the configuration's ``path``."""
        return Embedder(path)

    def encode(self, data: list[str], category: str | None = None) -> NDArray[np.float32]:
        """Embed texts.

        Args:
            data: texts.
            category: ``data`` for what is indexed; anything else is a query.

        Returns:
            float32 ``[texts, dimension]``.

        Raises:
            ValueError: the index was made with another fingerprint.
        """
        # Not at opening, where txtai would show an ImportError instead.
        config: dict[str, Any] = self.config
        made = self.model.fingerprint
        stored = config.setdefault("fingerprint", made)
        if stored != made:
            raise ValueError(
                f"{config['path']} gives vectors of {made}, the index has those of {stored}; "
                "open the file that made them, or index the documents again"
            )
        embed = self.model.embed_documents if category == "data" else self.model.embed_queries
        vectors: NDArray[np.float32] = embed(data)
        return vectors
