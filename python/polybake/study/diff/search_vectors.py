"""Vectors of the same texts by two model files, kept to search in."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.slack import Embeddings

Role = Literal["document", "query"]

#: Texts that are kept at most, and elements of all their vectors: 64 MB of float32 in each role.
MOST_TEXTS, _MOST_ELEMENTS = 5000, 2**24


@dataclass
class SearchVectors:
    """What both files give for texts as documents, and as queries.

    Attributes:
        found: By role, the vectors of the first file and of the second, text by text.
    """

    found: dict[Role, list[tuple[NDArray[np.generic], NDArray[np.generic]]]] = field(
        default_factory=lambda: {"document": [], "query": []}
    )

    def add(
        self, roles: Sequence[Role], before: Sequence[Embeddings], after: Sequence[Embeddings]
    ) -> None:
        """Keep vectors ``[1, dimension]`` of each text, as long as there is room."""
        for role in roles:
            kept = self.found[role]
            for one, other in zip(before, after, strict=True):
                if len(kept) < min(MOST_TEXTS, _MOST_ELEMENTS // max(one.size, other.size)):
                    kept.append((one[0], other[0]))

    def arrays(self, role: Role) -> tuple[Embeddings, Embeddings]:
        """``[texts, dimension]`` of both files; their dimensions may differ.

        Raises:
            ValueError: there is no text.
        """
        before, after = zip(*self.found[role], strict=True)
        return np.stack(before), np.stack(after)

    def __len__(self) -> int:
        return len(self.found["document"])
