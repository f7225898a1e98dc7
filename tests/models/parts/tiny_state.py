"""The state that a step is given, of embeddings and a mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polybake.steps import Arrays, State


def state(
    x: NDArray[np.floating[Any]],
    mask: NDArray[np.int64] | None = None,
    prompt_length: int | None = None,
    route: int | None = None,
) -> Arrays:
    """Embeddings with ids 5 at each token and 0 at padding; without a mask nothing is padding."""
    kept = np.ones(x.shape[:2] if x.ndim == 3 else (len(x), 1), np.int64) if mask is None else mask
    length, taken = (
        None if number is None else np.array([number]) for number in (prompt_length, route)
    )
    return State(x, 5 * kept, kept, prompt_length=length, route=taken)
