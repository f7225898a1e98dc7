"""The arrays that a model's inputs are fed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from polybake.modelfile.manifest import Contract


def feeds(
    contract: Contract, rows: Sequence[Sequence[int]], prompt: str | None = None, length: int = 0
) -> dict[str, NDArray[np.int64]]:
    """One array for each input of the contract, by its name.

    Args:
        contract: Says what to feed, and the padding.
        rows: Token ids; a row without any is all padding.
        prompt: Whose ``prompt_value`` is fed, where the model takes one.
        length: Pad to this many tokens when no row is longer.
    """
    width = max(1, length, *(len(row) for row in rows))
    ids = np.full((len(rows), width), contract.pad_id, np.int64)
    mask = np.zeros_like(ids)
    for index, row in enumerate(rows):
        place = slice(width - len(row), width) if contract.pad_side == "left" else slice(len(row))
        ids[index, place] = row
        mask[index, place] = 1
    values = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids),
        "position_ids": (mask.cumsum(axis=1) - 1) * mask,
    }
    return {
        one.name: (
            np.array([one.values[prompt or ""]], np.int64)
            if one.feed == "prompt_value"
            else values[one.feed]
        )
        for one in contract.inputs
    }
