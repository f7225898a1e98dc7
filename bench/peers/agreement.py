"""Whether a peer does the same work: its vectors beside polybake's float32 vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Smallest cosine of any text. Below it a peer does other work, truncation say, and is refused:
#: float32 must be equal, and others may be as far off as their numbers take a vector.
LEAST = {"float32": 0.99999, "bfloat16": 0.999, "int8": 0.95}


def cosine(vectors: NDArray[Any], expected: NDArray[Any]) -> float:
    """The smallest cosine of a row ``[texts, dimensions]`` to the same row of the other."""
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(expected, axis=1)
    return float(((vectors * expected).sum(axis=1) / norms).min())


def refusal(precision: str, smallest: dict[str, float]) -> str:
    """Why times may not stand beside the others', from each workload's smallest cosine."""
    workload = min(smallest, key=lambda name: smallest[name])
    if smallest[workload] >= LEAST[precision]:
        return ""
    return (
        f"refused: cosine {smallest[workload]:.5f} to polybake's float32 vectors in {workload!r}, "
        f"expected {LEAST[precision]} of {precision}"
    )
