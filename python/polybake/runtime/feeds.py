"""The arrays that a model's inputs are fed."""

import numpy as np
from numpy.typing import NDArray

from polybake.base.modelfile.manifest import Contract
from polybake.base.modelfile.rows import Rows


def feeds(
    contract: Contract, rows: Rows, prompt: str | None = None, length: int = 0
) -> dict[str, NDArray[np.int64]]:
    """Return an array for each input of the contract, by name."""
    width = max(1, length, *(len(row) for row in rows))
    ids = np.full((len(rows), width), contract.pad_id, np.int64)
    mask = np.zeros_like(ids)
    for index, row in enumerate(rows):
        span = slice(width - len(row), width) if contract.pad_side == "left" else slice(len(row))
        ids[index, span] = row
        mask[index, span] = 1
    types = np.zeros_like(ids)
    if contract.pair is not None:
        types, ids = np.divmod(ids, contract.vocab_size)
    values = {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": types,
        "position_ids": (mask.cumsum(axis=1) - 1) * mask,
    }
    return {
        item.name: (
            np.array([item.values[prompt or ""]], np.int64)
            if item.feed == "prompt_value"
            else values[item.feed]
        )
        for item in contract.inputs
    }
