"""Vectors of the same texts by two model files, kept for the search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.tolerance import Embeddings, Tolerance, compare_vectors

Role = Literal["document", "query"]

#: The most texts that are kept, and the most elements: 64 MB of float32 in each role.
MOST_TEXTS, _MOST_ELEMENTS = 5000, 2**24


@dataclass
class SearchVectors:
    """The vectors of texts as documents and as queries, by both files.

    Attributes:
        found: For each role, each text's vectors by the first and by the second file.
    """

    found: dict[Role, list[tuple[NDArray[np.generic], NDArray[np.generic]]]] = field(
        default_factory=lambda: {"document": [], "query": []}
    )

    def add(
        self, roles: Sequence[Role], before: Sequence[Embeddings], after: Sequence[Embeddings]
    ) -> None:
        """Keep each text's vectors, ``[1, dimension]``, while there is room."""
        for role in roles:
            pairs = self.found[role]
            for old, new in zip(before, after, strict=True):
                if len(pairs) < min(MOST_TEXTS, _MOST_ELEMENTS // max(old.size, new.size)):
                    pairs.append((old[0], new[0]))

    def arrays(self, role: Role) -> tuple[Embeddings, Embeddings]:
        """Return ``[texts, dimension]`` of both files; their dimensions may differ."""
        before, after = zip(*self.found[role], strict=True)
        return np.stack(before), np.stack(after)

    def __len__(self) -> int:
        return len(self.found["document"])


def truncation(
    vectors: SearchVectors, tolerance: Tolerance
) -> Literal["cut", "cut and normalized"] | None:
    """Return how truncation makes the second file's vectors of the first file's, if it does."""
    if not len(vectors):
        return None
    old, new = (
        np.concatenate(parts)
        for parts in zip(vectors.arrays("document"), vectors.arrays("query"), strict=True)
    )
    size = new.shape[1]
    if size >= old.shape[1] or new.dtype != np.float32 or old.dtype != np.float32:
        return None
    cut = old[:, :size]
    if compare_vectors(cut, new, tolerance) is None:
        return "cut"
    norms = np.linalg.norm(cut, axis=1, keepdims=True)
    unit = cut / np.where(norms > 0, norms, 1)
    return "cut and normalized" if compare_vectors(unit, new, tolerance) is None else None
