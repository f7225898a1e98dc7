"""The tokens that a step reads, of a mask alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from polybake.steps import Tokens


def tokens(
    mask: NDArray[np.int64], prompt_length: int | None = None, route: int | None = None
) -> Tokens[NDArray[np.int64]]:
    """Ids 5 at each token and 0 at padding."""
    length, taken = (
        None if number is None else np.array([number]) for number in (prompt_length, route)
    )
    return Tokens(input_ids=5 * mask, attention_mask=mask, prompt_length=length, route=taken)
